// Which sessions there are, and which one is shown. Nothing of VS Code, nothing of traces.

export interface Listed {
  readonly id: number;
  /** Its program runs. */
  readonly running: boolean;
  /** There is nothing in it but the reason why nothing was started. */
  readonly failed: boolean;
}

/** Of sessions that ended so many stay. */
const MOST_ENDED = 4;

export class SessionList<T extends Listed> {
  private readonly items: T[] = [];
  private current: T | null = null;

  get all(): readonly T[] {
    return this.items;
  }
  get shown(): T | null {
    return this.current;
  }

  /** Adds a session and shows it, unless another one stays shown. Returns those that went for it: failed ones, and the oldest of many that ended. */
  add(item: T, show = true): T[] {
    const kept = show ? null : this.current;
    const ended = this.items.filter(other => !other.running && !other.failed && other !== kept);
    const gone = [
      ...this.items.filter(other => other.failed && other !== kept),
      ...ended.slice(0, Math.max(0, ended.length - MOST_ENDED + 1)),
    ];
    for (const other of gone) this.items.splice(this.items.indexOf(other), 1);
    this.items.push(item);
    this.current = kept ?? item;
    return gone;
  }

  /** Takes a session out; the one after it is shown in its place, else the one before. False: there is none such. */
  remove(item: T): boolean {
    const at = this.items.indexOf(item);
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

/** Titles that tell sessions apart: `train.py`, `train.py (2)`. */
export function distinctTitles(titles: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return titles.map(title => {
    const count = (seen.get(title) ?? 0) + 1;
    seen.set(title, count);
    return count === 1 ? title : `${title} (${count})`;
  });
}
