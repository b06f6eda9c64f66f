import { formatBytes } from '../protocol/format';
import { inert } from '../protocol/inert';
import { byteLabel, byteTicks, timeLabel, timeTicks } from '../protocol/ticks';
import { bucketsOf, type Layer, type Series } from '../protocol/trace';
import { escapeXml } from '../protocol/xml';
import type { ExportInput } from './exportInput';
import { HeldLines, type HeldLine } from './heldLines';
import { factLines, traceFacts } from './traceFacts';

const TITLE = 'GPU memory over time';
const WIDTH = 1200;
const PLOT = { left: 76, width: 800, height: 400 };
const LEGEND_X = PLOT.left + PLOT.width + 24;
const LINE_PX = 16;
const LEGEND_CHARACTERS = 44;
const FACT_CHARACTERS = 170;
const GROUPS = 6;
const DRAWN = ['tensor', 'reserved', 'driver'] as const;
const NAMES: Record<(typeof DRAWN)[number], string> = {
  tensor: 'live tensors',
  reserved: 'reserved by PyTorch',
  driver: 'driver',
};
const STYLE = `text{font:12px sans-serif;fill:#3b3b3b}.title{font-size:16px;font-weight:600}.dim{fill:#616161}.end{text-anchor:end}
.paper{fill:#fff}.grid{stroke:#e2e2e2}.line{fill:none;stroke-width:1.5}.rest{fill:#d9d9d9}
.tensor{stroke:#0b62c4}.reserved{stroke:#2e7d32}.driver{stroke:#7b3fb5;stroke-dasharray:4 3}
.g0{fill:#7fb2ea}.g1{fill:#f0a878}.g2{fill:#e8d27a}.g3{fill:#86c9a4}.g4{fill:#c9a0e0}.g5{fill:#a3adb8}
@media(prefers-color-scheme:dark){text{fill:#d4d4d4}.dim{fill:#9d9d9d}.paper{fill:#1f1f1f}.grid{stroke:#3a3a3a}.rest{fill:#484848}
.tensor{stroke:#63aef5}.reserved{stroke:#89d185}.driver{stroke:#c586e0}
.g0{fill:#28527f}.g1{fill:#8a5230}.g2{fill:#7d6b25}.g3{fill:#2f6b4a}.g4{fill:#64427b}.g5{fill:#566270}}`;

interface Curve {
  series: (typeof DRAWN)[number];
  /** As `Timeline`. */
  points: Float64Array;
  /** Held before the window began, bytes. */
  before: number;
}
interface Scale {
  x(timeNs: number): number;
  y(bytes: number): number;
}

/**
 * The timeline as one SVG 1.1 document, over all processes and devices: what the biggest lines held throughout, stacked below
 * the live bytes, and the layers around them as lines. Light or dark as the viewer is.
 */
export async function* svgChunks(input: ExportInput): AsyncGenerator<Buffer> {
  const { info, selection } = input;
  const layer: Layer = info.totals.some(entry => entry.layer === 'tensor') ? 'tensor' : 'driver';
  const fromNs = selection.fromNs ?? 0;
  const lines = new HeldLines(input, layer, {
    fromNs,
    toNs: Math.max(info.durationNs, fromNs + 1),
    columns: PLOT.width,
  });
  for await (const batch of input.batches) lines.add(batch);
  yield Buffer.from(picture(input, layer, lines));
}

function picture(input: ExportInput, layer: 'tensor' | 'driver', lines: HeldLines): string {
  const { window } = lines;
  const curves = DRAWN.map(series => curveOf(input, series, window)).filter(curve => highest(curve) > 0);
  const facts = factLines(traceFacts(input.info, input.selection)).map(line => cut(line, FACT_CHARACTERS));
  const top = 44 + facts.length * LINE_PX;
  const height = top + PLOT.height + 36;
  const most = Math.max(1, ...curves.map(highest));
  const bytes = byteTicks(most, 10);
  const ceiling = Math.max(most, bytes.at(-1) ?? 1);
  const scale: Scale = {
    x: timeNs => PLOT.left + ((timeNs - window.fromNs) / (window.toNs - window.fromNs)) * PLOT.width,
    y: held => top + PLOT.height * (1 - held / ceiling),
  };
  const biggest = lines.biggest(GROUPS);
  const area = curves.find(curve => curve.series === layer);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${TITLE}</title>`,
    `<desc>${inert(escapeXml(facts.join(' ')))}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    label(16, 26, TITLE, 'title'),
    ...facts.map((line, i) => label(16, 46 + i * LINE_PX, line, 'dim')),
    ...bytes.map(value => byteTick(value, scale)),
    area ? `<path class="rest" d="${areaPath(steps(area, window, scale), scale)}"/>` : '',
    ...stackPaths(biggest, lines, scale),
    ...curves.map(curve => `<path class="line ${curve.series}" d="M${steps(curve, window, scale).join('L')}"/>`),
    ...timeMarks(window, scale),
    ...legend(biggest, curves, layer, top),
    '</svg>\n',
  ].join('\n');
}

function curveOf({ trace }: ExportInput, series: Curve['series'], { fromNs, toNs }: HeldLines['window']): Curve {
  const points = trace.timeline({ series: series satisfies Series, fromNs, toNs: toNs + 1, buckets: PLOT.width });
  const earlier = fromNs > 0 ? trace.timeline({ series, fromNs: 0, toNs: fromNs, buckets: 1 }) : new Float64Array();
  return { series, points, before: earlier[3] ?? 0 };
}

function highest({ points, before }: Curve): number {
  return Math.max(before, ...bucketsOf(points, 0).map(({ max }) => max));
}

/** Corners of a curve: each bucket's most for as long as it lasts, then what it ended with. */
function steps({ points, before }: Curve, { fromNs, toNs, columnNs }: HeldLines['window'], { x, y }: Scale): string[] {
  const corners: string[] = [];
  const put = (timeNs: number, bytes: number): void => void corners.push(`${round(x(timeNs))} ${round(y(bytes))}`);
  let held = before;
  put(fromNs, held);
  for (const { beginNs, endNs, max, last } of bucketsOf(points, toNs)) {
    const end = Math.min(beginNs + columnNs, endNs, toNs);
    put(beginNs, held);
    put(beginNs, max);
    put(end, max);
    put(end, last);
    held = last;
  }
  put(toNs, held);
  return corners;
}

function areaPath(corners: readonly string[], { y }: Scale): string {
  return `M${PLOT.left} ${round(y(0))}L${corners.join('L')}L${PLOT.left + PLOT.width} ${round(y(0))}Z`;
}

/** One area a line, biggest lowest. */
function stackPaths(biggest: readonly HeldLine[], { window }: HeldLines, scale: Scale): string[] {
  const floor = new Float64Array(PLOT.width);
  return biggest.map(({ held }, group) => {
    const [lower, upper]: [string[], string[]] = [[], []];
    for (const [column, bytes] of held.entries()) {
      const edges = [column, column + 1].map(at => round(scale.x(window.fromNs + at * window.columnNs)));
      const [below, above] = [floor[column] ?? 0, (floor[column] ?? 0) + bytes].map(value => round(scale.y(value)));
      for (const edge of edges) {
        lower.push(`${edge} ${below}`);
        upper.push(`${edge} ${above}`);
      }
      floor[column] = (floor[column] ?? 0) + bytes;
    }
    return `<path class="g${group}" d="M${upper.join('L')}L${lower.reverse().join('L')}Z"/>`;
  });
}

function byteTick(value: number, { y }: Scale): string {
  const at = round(y(value));
  const line = `<path class="grid" d="M${PLOT.left} ${at}H${PLOT.left + PLOT.width}"/>`;
  return line + label(PLOT.left - 8, at + 4, byteLabel(value), 'dim end');
}

function timeMarks({ fromNs, toNs }: HeldLines['window'], { x, y }: Scale): string[] {
  const times = timeTicks(fromNs, toNs, 8);
  const step = (times[1] ?? toNs) - (times[0] ?? fromNs);
  return times.map(time => {
    const at = round(x(time));
    const bottom = round(y(0));
    return `<path class="grid" d="M${at} ${bottom}v5"/>${label(at, bottom + 20, timeLabel(time, step), 'dim')}`;
  });
}

function legend(biggest: readonly HeldLine[], curves: readonly Curve[], layer: Layer, top: number): string[] {
  const lines = curves.map(curve => {
    const words = `${NAMES[curve.series]}, peak ${formatBytes(highest(curve))}`;
    return { swatch: `<path class="line ${curve.series}" d="M0 0h14"/>`, words };
  });
  const square = (kind: string): string => `<rect class="${kind}" y="-5" width="14" height="10"/>`;
  const groups = biggest.map(({ name, most }, i) => ({
    swatch: square(`g${i}`),
    words: `up to ${formatBytes(most)}: ${name}`,
  }));
  const rest = curves.some(({ series }) => series === layer)
    ? [{ swatch: square('rest'), words: 'rest: smaller lines, and what comes and goes' }]
    : [];
  return [...lines, ...rest, ...groups.reverse()].map(({ swatch, words }, i) => {
    const at = `<g transform="translate(${LEGEND_X} ${top + 8 + i * 22})">${swatch}`;
    return `${at}${label(22, 4, cut(words, LEGEND_CHARACTERS))}</g>`;
  });
}

function label(x: number, y: number, text: string, kind?: string): string {
  return `<text x="${x}" y="${y}"${kind === undefined ? '' : ` class="${kind}"`}>${inert(escapeXml(text))}</text>`;
}

function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
