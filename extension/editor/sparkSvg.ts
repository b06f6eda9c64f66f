// Small pictures for editor surfaces, as SVG in data URIs.
const WIDTH = 160;
const HEIGHT = 28;

/** A line of values from 0 to their maximum. */
export function sparkSvg(values: readonly number[], colour: string): string {
  const most = Math.max(...values, 1);
  const x = (i: number): string => ((i / Math.max(values.length - 1, 1)) * (WIDTH - 2) + 1).toFixed(1);
  const y = (value: number): string => (HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1);
  const points = values.map((value, i) => `${x(i)},${y(value)}`).join(' ');
  const line = `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="1.5"/>`;
  return uri(WIDTH, HEIGHT, line);
}

/** A bar at the left of a line: the fuller, the hotter. `level` from 0 to `levels` - 1. */
export function heatSvg(level: number, levels: number, colour: string): string {
  const height = Math.round(4 + (12 * level) / Math.max(levels - 1, 1));
  return uri(16, 16, `<rect x="6" y="${16 - height}" width="4" height="${height}" rx="1" fill="${colour}"/>`);
}

function uri(width: number, height: number, content: string): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}
