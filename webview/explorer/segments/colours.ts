// Colours of blocks: one for each line or pool, the same in every run; or lighter for younger, stronger for older ones.
import { t } from '@vscode/l10n';
import type { SegmentPicture } from '../../../extension/protocol/requests/segmentRequests';
import { fileLine } from '../../../extension/text/format';
import { HUE_COUNT, SHADE_COUNT, SHADE_PERCENT } from '../../../extension/protocol/lineHue';
import { hueOf } from '../common/hues';
import type { ColourBy } from '../state/state';

/** Up to these ages in steps; the last stands for all that is older. */
const AGES = [0, 1, 8, 64, Infinity] as const;
const AGE_WORDS = [t('this step'), t('1 step'), t('2 to 8 steps'), t('9 to 64 steps'), t('older')] as const;
const AGE_PERCENT = [28, 46, 62, 80, 100] as const;
const MOST_KEYS = 6;

/** Index into a palette by entry of `places`, and the last index for what has no line. */
const NO_LINE = HUE_COUNT * SHADE_COUNT;

export interface ColourKey {
  /** What is pressed to see only these; '' of ages. */
  name: string;
  text: string;
  bytes: number;
  colour: number;
}

/** Blocks with their names (line or age) and colours. */
export class SegmentColours {
  /** By block: index into the palette. */
  readonly block: Uint8Array;
  /** By segment, where a segment is one block. */
  readonly segment: Uint8Array;
  private readonly placeOf: ReadonlyMap<number, number>;

  constructor(
    readonly picture: SegmentPicture,
    readonly by: ColourBy,
  ) {
    const { map, places } = picture;
    this.placeOf = new Map(Array.from(places.site, (site, i) => [site, i] as const));
    this.segment = Uint8Array.from({ length: map.bytes.length }, (_, i) =>
      by === 'age' ? AGES.length - 1 : this.colourOf(this.nameOf(map.site[i]!, i)),
    );
    this.block = Uint8Array.from({ length: map.blocks.rows }, (_, i) =>
      by === 'age'
        ? AGES.findIndex(most => map.blocks.ageSteps[i]! <= most)
        : this.colourOf(this.nameOf(map.blocks.site[i]!, map.blocks.segment[i]!)),
    );
  }

  /** What the segment's pool is; empty: not known. */
  poolOf(segment: number): string {
    const { pool, pools } = this.picture.map;
    return pools[pool[segment] ?? -1] ?? '';
  }

  /** `model.py:41`; empty without a Python line. */
  place(site: number): { file: string; line: number; function: string } {
    const i = this.placeOf.get(site);
    if (i === undefined) return { file: '', line: 0, function: '' };
    const { places } = this.picture;
    return { file: places.file[i] ?? '', line: places.line[i] ?? 0, function: places.function[i] ?? '' };
  }

  /** What a block of a segment is coloured by; empty: nothing is known. */
  nameOf(site: number, segment: number): string {
    if (this.by === 'pool') return this.poolOf(segment);
    const { file, line } = this.place(site);
    return line === 0 ? '' : `${file}:${line}`;
  }

  /** What the colours mean: all ages, or the lines with most bytes. */
  keys(): ColourKey[] {
    const { map } = this.picture;
    if (this.by === 'age')
      return AGE_WORDS.map((text, colour) => ({ name: '', text, colour, bytes: this.ageBytes(colour) }));
    const lines = new Map<string, ColourKey>();
    const add = (site: number, segment: number, bytes: number, colour: number): void => {
      const { file, line } = this.place(site);
      const name = this.nameOf(site, segment);
      const known = this.by === 'pool' ? name : fileLine(file, line);
      const text = name ? known : this.by === 'pool' ? t('pool unknown') : t('no Python line');
      const key = lines.get(name) ?? { name, text, bytes: 0, colour };
      key.bytes += bytes;
      lines.set(name, key);
    };
    // A pool has all of its segments, in use or not.
    const whole = map.source === 'driver' || this.by === 'pool';
    if (whole) map.site.forEach((site, i) => add(site, i, map.bytes[i]!, this.segment[i]!));
    else map.blocks.site.forEach((site, i) => add(site, map.blocks.segment[i]!, map.blocks.bytes[i]!, this.block[i]!));
    return [...lines.values()].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_KEYS);
  }

  private ageBytes(bucket: number): number {
    const { blocks } = this.picture.map;
    return blocks.bytes.reduce((sum, bytes, i) => sum + (this.block[i] === bucket ? bytes : 0), 0);
  }

  private colourOf(name: string): number {
    if (name === '') return NO_LINE;
    const { hue, shade } = hueOf(name);
    return hue * SHADE_COUNT + shade;
  }
}

/** Colours by index, from the theme's chart colours; `dim` for what has no line. */
export function palette(by: ColourBy, hues: readonly string[], dim: string): string[] {
  const mix = (colour: string, percent: number): string => `color-mix(in srgb, ${colour} ${percent}%, transparent)`;
  if (by === 'age') return AGE_PERCENT.map(percent => mix(hues[0] ?? dim, percent));
  return [...hues.flatMap(hue => SHADE_PERCENT.map(percent => mix(hue, percent))), mix(dim, 50)];
}
