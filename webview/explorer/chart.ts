// chart.js as a plain drawer: points come reduced, nothing is parsed, animated or hovered by it.
import { Chart, Filler, LinearScale, LineController, LineElement, PointElement } from 'chart.js';
import type { ChartDataset } from 'chart.js';
import { byteLabel, byteTicks, timeLabel, timeTicks } from './ticks';
import { highest, type Point } from './points';
import { readPalette, type Palette } from './theme';
import type { TimeWindow } from './zoom';

Chart.register(LineController, LineElement, PointElement, LinearScale, Filler);

export type DrawnSeries = 'tensor' | 'reserved' | 'driver';
export interface Curve {
  series: DrawnSeries;
  points: Point[];
  shown: boolean;
  /** Filled down to zero. */
  area: boolean;
}

const PIXELS_PER_TIME_LABEL = 72;
const PIXELS_PER_BYTE_LABEL = 34;
type LineDataset = ChartDataset<'line', Point[]>;

export class TimelineChart {
  private readonly chart: Chart<'line', Point[]>;
  private palette: Palette = readPalette();

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
        layout: { padding: { top: 6, right: 8 } },
        elements: { point: { radius: 0 }, line: { borderJoinStyle: 'round' } },
        scales: { x: { type: 'linear' }, y: { type: 'linear', min: 0 } },
      },
    });
  }

  /** The plot without its axes, in pixels of the canvas. */
  get plot(): { left: number; right: number; top: number; bottom: number } {
    return this.chart.chartArea ?? { left: 0, right: this.chart.width, top: 0, bottom: this.chart.height };
  }

  get width(): number {
    return Math.max(1, Math.round(this.plot.right - this.plot.left));
  }

  /** The editor's theme changed. */
  recolour(): void {
    this.palette = readPalette();
  }

  draw(curves: readonly Curve[], window: TimeWindow): void {
    const top = Math.max(1, ...curves.filter(curve => curve.shown).map(curve => highest(curve.points)));
    this.setScales(window, top);
    this.chart.data.datasets = curves.filter(curve => curve.shown).map(curve => this.dataset(curve));
    this.chart.update('none');
  }

  private setScales(window: TimeWindow, top: number): void {
    const bytes = byteTicks(top, Math.max(1, Math.floor(this.chart.height / PIXELS_PER_BYTE_LABEL)));
    const times = timeTicks(window.fromNs, window.toNs, Math.max(2, Math.floor(this.width / PIXELS_PER_TIME_LABEL)));
    const step = times.length > 1 ? times[1]! - times[0]! : window.toNs - window.fromNs;
    const font = { family: this.palette.font, size: 11 };
    const ticks = { color: this.palette.dim, font, autoSkip: false, maxRotation: 0 };
    const grid = { color: this.palette.grid, drawTicks: false };
    const border = { display: false };
    this.chart.options.scales = {
      x: {
        type: 'linear',
        min: window.fromNs,
        max: window.toNs,
        afterBuildTicks: axis => void (axis.ticks = times.map(value => ({ value }))),
        ticks: { ...ticks, padding: 4, align: 'inner', callback: value => timeLabel(Number(value), step) },
        grid: { ...grid, display: false },
        border,
      },
      y: {
        type: 'linear',
        min: 0,
        max: Math.max(top * 1.04, 1),
        afterBuildTicks: axis =>
          void (axis.ticks = bytes.filter(value => value <= top * 1.04).map(value => ({ value }))),
        ticks: { ...ticks, padding: 6, callback: value => byteLabel(Number(value)) },
        grid,
        border,
      },
    };
  }

  private dataset(curve: Curve): LineDataset {
    const colour = this.palette[curve.series];
    return {
      data: curve.points,
      borderColor: colour,
      borderWidth: 1.5,
      borderDash: curve.series === 'driver' && !curve.area ? [4, 3] : [],
      backgroundColor: curve.area ? `color-mix(in srgb, ${colour} 35%, transparent)` : 'transparent',
      fill: curve.area ? 'origin' : false,
      order: curve.area ? 1 : 0,
    };
  }
}
