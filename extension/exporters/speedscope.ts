import { LAYER_NAMES } from '../protocol/format';
import { escapeJson } from '../protocol/inert';
import { remembered } from '../protocol/maps';
import type { Frame, TraceInfo } from '../protocol/trace';
import type { ExportInput } from './exportInput';
import { SiteBook, threadName } from './siteBook';
import { layersOf, sumSites, type SiteSum } from './siteSums';
import { factLines, traceFacts } from './traceFacts';

const MEASURES: [name: string, value: (sum: SiteSum) => number][] = [
  ['Live bytes', sum => sum.liveBytes],
  ['Bytes alive at the peak', sum => sum.peakBytes],
  ['Bytes ever allocated', sum => sum.allocatedBytes],
];

interface SpeedscopeFrame {
  name: string;
  file?: string;
  line?: number;
}

/** A speedscope file: for each layer one profile of live, peak and allocated bytes; threads are the outermost frames. */
export async function* speedscopeChunks(input: ExportInput): AsyncGenerator<Buffer> {
  const { info, selection } = input;
  const sums = await sumSites(input);
  const frames = new FrameTable();
  const profiles = profilesOf(sums, stackMaker(input, frames));
  const facts = traceFacts(info, selection);
  const file = {
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    name: factLines(facts).join(' '),
    exporter: facts.exporter,
    activeProfileIndex: 0,
    profiles,
    shared: { frames: frames.frames },
    gpuMemoryTrace: facts,
  };
  yield Buffer.from(escapeJson(JSON.stringify(file)));
}

function profilesOf(sums: readonly SiteSum[], stackOf: (sum: SiteSum) => number[]) {
  const stacks = new Map(sums.map(sum => [sum, stackOf(sum)]));
  return layersOf(sums).flatMap(layer =>
    MEASURES.map(([name, value]) => {
      const used = sums.filter(sum => sum.layer === layer && value(sum) > 0).sort((a, b) => value(b) - value(a));
      const weights = used.map(value);
      return {
        type: 'sampled',
        name: `${name}, ${LAYER_NAMES[layer]}`,
        unit: 'bytes',
        startValue: 0,
        endValue: weights.reduce((sum, weight) => sum + weight, 0),
        samples: used.map(sum => stacks.get(sum) ?? []),
        weights,
      };
    }),
  );
}

/** Outermost frame first: process and thread, then the stack. */
function stackMaker(input: ExportInput, frames: FrameTable): (sum: SiteSum) => number[] {
  const book = new SiteBook(input);
  return sum => {
    const root = frames.index({ name: rootName(input.info, sum) });
    const stack = book.frames(sum.site).map(frame => frames.index(speedscopeFrame(frame)));
    return [root, ...stack.reverse()];
  };
}

function rootName(info: TraceInfo, { process, thread }: SiteSum): string {
  const name = threadName(info, process, thread) || 'unknown thread';
  return info.processes.length > 1 ? `${info.processes[process]?.pid ?? '?'} ${name}` : name;
}

function speedscopeFrame({ file, line, function: name }: Frame): SpeedscopeFrame {
  if (file === '') return { name };
  return line > 0 ? { name, file, line } : { name, file };
}

class FrameTable {
  readonly frames: SpeedscopeFrame[] = [];
  private readonly known = new Map<string, number>();

  index(frame: SpeedscopeFrame): number {
    return remembered(this.known, JSON.stringify(frame), () => this.frames.push(frame) - 1);
  }
}
