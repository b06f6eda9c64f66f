// Which sessions there are, and which one is shown. Nothing of VS Code, nothing of traces.

export interface Listed {
  readonly id: number;
  readonly title: string;
  /** Its program runs. */
  readonly running: boolean;
  /** It ended, or was not started, and nothing was recorded: there is only the reason in it. */
  readonly empty: boolean;
}

/** Of sessions that ended so many stay, besides those that are needed. */
const MOST_ENDED = 4;

/** What a session is compared with, of all; null: nothing. */
type Before<T> = (item: T, all: readonly T[]) => T | null;

export class SessionList<T extends Listed> {
  private readonly items: T[] = [];
  private current: T | null = null;
  private readonly runs = new WeakMap<T, number>();

  /** @param isUnread of those that ended: it makes room for no other */
  constructor(
    private readonly isUnread: (item: T, all: readonly T[]) => boolean = () => false,
    private readonly before: Before<T> = () => null,
  ) {}

  get all(): readonly T[] {
    return this.items;
  }
  get shown(): T | null {
    return this.current;
  }

  /** Adds a session and shows it, unless another one stays shown. Returns those that went for it: empty ones, and what `trim` returns. */
  add(item: T, show = true): T[] {
    const kept = show ? null : this.current;
    this.current = kept ?? item;
    const gone = this.items.filter(other => other.empty && other !== kept);
    for (const other of gone) this.remove(other);
    this.runs.set(item, 1 + Math.max(0, ...this.alike(item).map(other => this.runOf(other))));
    this.items.push(item);
    return [...gone, ...this.trim()];
  }

  /** Which of the runs of its title, from 1; it keeps that number when earlier ones go. */
  runOf(item: T): number {
    return this.runs.get(item) ?? 1;
  }

  /** A title that no other one has: `train.py`, `train.py (2)`. */
  titleOf(item: T): string {
    const run = this.runOf(item);
    return run === 1 ? item.title : `${item.title} (${run})`;
  }

  /** Those of its title. */
  alike({ title }: T): T[] {
    return this.items.filter(other => other.title === title);
  }

  /**
   * Takes out the oldest of many that ended, each with what it was compared with, and returns them; the newest, of which little is known yet,
   * is none of them. Until a run has ended it may turn out to be empty, and takes no other's place.
   */
  trim(): T[] {
    const compared = this.compared();
    const ended = this.items.filter(other => !other.running && !other.empty);
    const free = ended.filter(other => !compared.has(other) && !this.isUnread(other, this.items));
    const oldest = free.find(other => other !== this.current && other !== ended.at(-1));
    if (free.length <= MOST_ENDED || oldest === undefined) return [];
    const before = this.before(oldest, this.items);
    this.remove(oldest);
    const goes = before !== this.current && !this.compared().has(before) && this.remove(before);
    return [oldest, ...(goes && before ? [before] : []), ...this.trim()];
  }

  /** What the shown session is compared with, and what each is with which no other one is. */
  private compared(): ReadonlySet<T | null> {
    const pairs = this.items.map(item => [item, this.before(item, this.items)] as const);
    const earlier = new Set(pairs.map(([, before]) => before));
    const latest = pairs.filter(([item]) => item === this.current || !earlier.has(item));
    return new Set(latest.map(([, before]) => before));
  }

  /** Takes a session out; the one after it is shown in its place, else the one before. False: there is none such. */
  remove(item: T | null): boolean {
    const at = this.items.findIndex(other => other === item);
    if (at < 0) return false;
    this.items.splice(at, 1);
    if (this.current === item) this.current = this.items[at] ?? this.items[at - 1] ?? null;
    return true;
  }

  /** False: there is none such, or it is shown already. */
  show(id: number): boolean {
    const item = this.items.find(other => other.id === id);
    if (item === undefined || item === this.current) return false;
    this.current = item;
    return true;
  }
}
