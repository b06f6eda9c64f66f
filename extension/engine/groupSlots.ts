import { HUE_COUNT, lineHue } from '../protocol/lineHue';
import type { StackBy } from '../protocol/requests/timelineRequests';

/** The colour that each group had when it was drawn last, in any trace of the window: in the next run a line has it again. */
export type KnownSlots = Record<StackBy, Map<string, number>>;
export const noSlots = (): KnownSlots => ({ line: new Map(), category: new Map(), thread: new Map() });

/** Which of the timeline's colours each group of a trace has: its own in each run and view, unless another group that is drawn has it. */
export class GroupSlots {
  private drawn: readonly string[] = [];

  constructor(private readonly known: Map<string, number>) {}

  /** By group, in their order; a name that comes twice has two. */
  assign(names: readonly string[]): number[] {
    const keys = names.map((name, i) => `${name}\n${names.slice(0, i).filter(other => other === name).length}`);
    const free = new Set(Array.from({ length: HUE_COUNT }, (_, slot) => slot));
    const given = new Map<string, number>();
    const give = (key: string, slot: number | undefined): void => {
      if (slot === undefined || given.has(key) || !free.delete(slot)) return;
      given.set(key, slot);
      this.known.set(key, slot);
    };
    // What is drawn keeps its colour, then what was drawn once; what is new has that of its name.
    const before = new Set(this.drawn);
    for (const key of keys) if (before.has(key)) give(key, this.known.get(key));
    for (const key of keys) give(key, this.known.get(key));
    keys.forEach((key, i) => give(key, lineHue(names[i]!, new Map()).hue));
    for (const key of keys) if (!given.has(key)) give(key, this.rarest(free));
    this.drawn = keys;
    return keys.map((key, i) => given.get(key) ?? i % HUE_COUNT);
  }

  /** The free one that fewest groups have had. */
  private rarest(free: ReadonlySet<number>): number | undefined {
    const had = (slot: number): number => [...this.known.values()].filter(other => other === slot).length;
    return [...free].sort((a, b) => had(a) - had(b))[0];
  }
}
