// chart.js as a plain drawer: points come reduced, nothing is parsed, animated or hovered by it.
import { Chart, Filler, LinearScale, LineController, LineElement, PointElement } from 'chart.js';
import type { ChartDataset } from 'chart.js';
import { drawBands, type Band } from './bands';
import { byteTicks, timeLabel, timeTicks, type Tick } from './ticks';
import { patternOf } from './patterns';
import { highest, type Point } from './timelinePoints';
import { readPalette, type Palette } from '../common/theme';
import type { TimeWindow } from '../state/zoom';

Chart.register(LineController, LineElement, PointElement, LinearScale, Filler);

export type DrawnSeries = 'tensor' | 'reserved' | 'driver';
export interface Curve {
  series: DrawnSeries;
  points: Point[];
  shown: boolean;
  /** Filled, down to the groups below it. */
  area: boolean;
}
export interface Drawing {
  curves: readonly Curve[];
  /** Upper edges of the groups below the area, from the bottom. */
  groups: readonly Point[][];
  /** Colours of the groups. */
  slots: readonly number[];
  window: TimeWindow;
  /** At the foot of the plot. */
  bands: readonly Band[];
  /** The scale reaches so far at least. */
  leastTop: number;
  /** A line far above the area leaves the plot at its top. */
  cuts: boolean;
  /** Labels of the axis; null: times. */
  ticks: readonly Tick[] | null;
}

/** Above the plot, for a row of labels of marks. */
export const LABELS_PX = 14;
const PIXELS_PER_TIME_LABEL = 72;
const PIXELS_PER_BYTE_LABEL = 34;
/** Reserved so many times what is allocated, it would make that a flat line. */
const FAR_ABOVE = 4;
const ABOVE_AREA = 1.5;
type LineDataset = ChartDataset<'line', Point[]>;

export class TimelineChart {
  private readonly chart: Chart<'line', Point[]>;
  private palette: Palette = readPalette();
  private window: TimeWindow = { fromNs: 0, toNs: 1 };
  private bands: readonly Band[] = [];
  private labelRows = 1;

  constructor(canvas: HTMLCanvasElement, onResize: () => void) {
    this.chart = new Chart<'line', Point[]>(canvas, {
      type: 'line',
      data: { datasets: [] },
      options: {
        animation: false,
        parsing: false,
        normalized: true,
        responsive: true,
        onResize,
        maintainAspectRatio: false,
        events: [],
        layout: { padding: { top: LABELS_PX, right: 8 } },
        elements: { point: { radius: 0 }, line: { borderJoinStyle: 'round' } },
        scales: { x: { type: 'linear' }, y: { type: 'linear', min: 0 } },
      },
      plugins: [
        {
          id: 'bands',
          afterDatasetsDraw: ({ ctx, chartArea }) => drawBands(ctx, chartArea, this.window, this.bands, this.palette),
        },
      ],
    });
  }

  /** The plot without its axes, in pixels of the canvas. */
  get plot(): { left: number; right: number; top: number; bottom: number } {
    return this.chart.chartArea ?? { left: 0, right: this.chart.width, top: 0, bottom: this.chart.height };
  }

  get width(): number {
    return Math.max(1, Math.round(this.plot.right - this.plot.left));
  }

  /** Pixels below the plot's upper edge. */
  yOf(bytes: number): number {
    return (this.chart.scales['y']?.getPixelForValue(bytes) ?? 0) - this.plot.top;
  }

  /** The editor's theme changed. */
  recolour(): void {
    this.palette = readPalette();
  }

  /** Rows of labels above the plot, as drawn from now on. */
  setLabelRows(rows: number): void {
    if (rows === this.labelRows) return;
    this.labelRows = rows;
    this.chart.options.layout = { padding: { top: rows * LABELS_PX, right: 8 } };
    this.chart.update('none');
  }

  /** So many labels fit below the chart. */
  get labels(): number {
    return Math.max(2, Math.floor(this.width / PIXELS_PER_TIME_LABEL));
  }

  draw({ curves, groups, slots, window, bands, leastTop, cuts, ticks }: Drawing): void {
    this.window = window;
    this.bands = bands;
    const shown = curves.filter(curve => curve.shown);
    const top = Math.max(leastTop, topOf(shown, cuts));
    this.setScales(window, top, ticks ?? this.times(window));
    const stacked = shown.some(curve => curve.area) ? groups : [];
    const lines = [...shown].sort((a, b) => Number(b.area) - Number(a.area)); // the area lies on the last group
    this.chart.data.datasets = [
      ...stacked.map((points, group) => this.groupDataset(points, group, slots[group]!)),
      ...lines.map(curve => this.dataset(curve, stacked.length)),
    ];
    this.chart.update('none');
  }

  private times(window: TimeWindow): Tick[] {
    const times = timeTicks(window.fromNs, window.toNs, this.labels);
    const step = times.length > 1 ? times[1]! - times[0]! : window.toNs - window.fromNs;
    return times.map(value => ({ value, label: timeLabel(value, step) }));
  }

  private setScales(window: TimeWindow, top: number, marks: readonly Tick[]): void {
    const max = Math.max(top * 1.04, 1);
    const most = Math.max(1, Math.floor(this.chart.height / PIXELS_PER_BYTE_LABEL));
    const bytes = top > 0 ? byteTicks(max, most) : [];
    const font = { family: this.palette.font, size: 11 };
    const ticks = { color: this.palette.dim, font, autoSkip: false, maxRotation: 0 };
    const grid = { color: this.palette.grid, drawTicks: false };
    const border = { display: false };
    this.chart.options.scales = {
      x: {
        type: 'linear',
        min: window.fromNs,
        max: window.toNs,
        afterBuildTicks: axis => void (axis.ticks = marks.map(({ value }) => ({ value }))),
        ticks: { ...ticks, padding: 1, align: 'inner', callback: (_, i) => marks[i]?.label ?? '' },
        grid: { ...grid, color: this.palette.dim, drawOnChartArea: false, drawTicks: true, tickLength: 4 },
        border,
      },
      y: {
        type: 'linear',
        min: 0,
        max,
        afterBuildTicks: axis => void (axis.ticks = bytes.map(({ value }) => ({ value }))),
        ticks: { ...ticks, padding: 6, callback: (_, i) => bytes[i]?.label ?? '' },
        grid,
        border,
      },
    };
  }

  private groupDataset(points: Point[], group: number, slot: number): LineDataset {
    const { groups, contrast } = this.palette;
    const colour = groups[slot]!;
    return {
      data: points,
      borderColor: colour,
      borderWidth: contrast ? 1.5 : 0.5,
      backgroundColor: contrast ? patternOf(slot, colour) : `color-mix(in srgb, ${colour} 60%, transparent)`,
      fill: group === 0 ? 'origin' : '-1',
      order: 2,
    };
  }

  private dataset(curve: Curve, groups: number): LineDataset {
    const colour = this.palette[curve.series];
    const fill = groups > 0 ? this.palette.rest : `color-mix(in srgb, ${colour} 35%, transparent)`;
    return {
      data: curve.points,
      borderColor: colour,
      borderWidth: 1.5,
      borderDash: curve.series === 'driver' && !curve.area ? [4, 3] : [],
      backgroundColor: curve.area ? fill : 'transparent',
      fill: curve.area ? (groups > 0 ? '-1' : 'origin') : false,
      order: curve.area ? 1 : 0,
    };
  }
}

/** Highest bytes of the scale. Memory that the driver has besides what is reserved is worth its own. */
function topOf(shown: readonly Curve[], cuts: boolean): number {
  const of = (curves: readonly Curve[]): number => Math.max(0, ...curves.map(({ points }) => highest(points)));
  const most = of(shown);
  const area = of(shown.filter(curve => curve.area));
  const reserved = of(shown.filter(({ series }) => series === 'reserved'));
  const cut = cuts && area > 0 && area * FAR_ABOVE < reserved && most < reserved * 2;
  return cut ? area * ABOVE_AREA : most;
}
