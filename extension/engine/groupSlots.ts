import { HUE_COUNT } from '../protocol/lineHue';

/** Which of the timeline's colours each group has: one that stays keeps its own, though others may come or pass it. */
export class GroupSlots {
  private known = new Map<string, number>();

  /** By group, in their order; a name that comes twice has two. */
  assign(names: readonly string[]): number[] {
    const before = this.known;
    const keys = names.map((name, i) => `${name}\n${names.slice(0, i).filter(other => other === name).length}`);
    const taken = new Set(keys.flatMap(key => before.get(key) ?? []));
    const free = Array.from({ length: HUE_COUNT }, (_, slot) => slot).filter(slot => !taken.has(slot));
    this.known = new Map(keys.map((key, i) => [key, before.get(key) ?? free.shift() ?? i % HUE_COUNT]));
    return [...this.known.values()];
  }
}
