import { type LineHue, SHADE_PERCENT } from '../protocol/lineHue';

export interface Colours {
  light: string;
  dark: string;
}

/** By hue: the defaults of the colours `gpuMemoryTrace.line1` to `line6` of the manifest. A picture beside the code has none of the theme's. */
export const HUE_COLOURS: readonly Colours[] = [
  { light: '#0063d3', dark: '#59a4f9' },
  { light: '#d05402', dark: '#dd7e22' },
  { light: '#bf8803', dark: '#cca700' },
  { light: '#1f787c', dark: '#73bdb9' },
  { light: '#8b2665', dark: '#c470ad' },
  { light: '#1e4f87', dark: '#93b8e3' },
];

/** The colour of a line, see-through where it is a lighter shade. */
export function hueColours({ hue, shade }: LineHue): Colours {
  const { light, dark } = HUE_COLOURS[hue]!;
  const alpha = Math.round((SHADE_PERCENT[shade]! / 100) * 255).toString(16);
  return { light: light + alpha, dark: dark + alpha };
}
