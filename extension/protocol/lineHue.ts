// One colour a line, in every view and beside its source: the six that the timeline stacks have one each, the others a lighter
// shade of one.

export const HUE_COUNT = 6;

/** Shades of a colour: the first is that of the lines which the timeline stacks. */
export const SHADE_PERCENT = [100, 65, 40] as const;
export const SHADE_COUNT = SHADE_PERCENT.length;

export interface LineHue {
  /** 0 to HUE_COUNT - 1. */
  hue: number;
  /** 0 to SHADE_COUNT - 1. */
  shade: number;
}

/** The colour of a line (`/home/me/train.py:12`); `stacked`: those of the lines that the timeline stacks. */
export function lineHue(name: string, stacked: ReadonlyMap<string, number>): LineHue {
  const own = stacked.get(name);
  if (own !== undefined) return { hue: own, shade: 0 };
  const hash = hashOf(name);
  return { hue: hash % HUE_COUNT, shade: 1 + (Math.floor(hash / HUE_COUNT) % (SHADE_COUNT - 1)) };
}

/** FNV-1a. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
