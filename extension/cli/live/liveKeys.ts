// What the keys of the live view do to what is shown.
import type { LiveChoice, LiveSort } from '../../report/tables/liveView';

/** A key as `readline` names it. */
export interface Key {
  name?: string;
  sequence?: string;
  ctrl?: boolean;
  meta?: boolean;
}

const SORTS: Record<string, LiveSort> = { b: 'bytes', g: 'growth', n: 'blocks', l: 'line' };
const HELP = 'b bytes  g growth  n blocks  l line  / filter  arrows scroll  q quit';
const HELP_FILTERED = HELP.replace('/ filter', '/ filter  Esc clear');
const MOST_LETTERS = 100;

/** The choice and the line below it, which is help, or the filter while that is typed. */
export class Keys {
  choice: LiveChoice = { sort: 'bytes', filter: '', from: 0 };
  private typing = false;

  get line(): string {
    if (this.typing) return `Filter (words, >10MB, age>5steps; Esc clears): ${this.choice.filter}_`;
    return this.choice.filter === '' ? HELP : HELP_FILTERED;
  }

  /** `list`: its rows, and how many are seen at once. False: the view is to be left. */
  press(key: Key, list: { rows: number; page: number }): boolean {
    if (this.typing) this.type(key);
    else if (key.name === 'q') return false;
    else if (key.sequence === '/') this.typing = true;
    else if (key.name === 'escape') this.choice = { ...this.choice, filter: '', from: 0 };
    else this.move(key, list);
    return true;
  }

  private type({ name, sequence = '', ctrl, meta }: Key): void {
    const { filter } = this.choice;
    const to = (text: string): LiveChoice => ({ ...this.choice, filter: text, from: 0 });
    if (name === 'return' || name === 'enter') this.typing = false;
    else if (name === 'escape') [this.typing, this.choice] = [false, to('')];
    else if (name === 'backspace') this.choice = to([...filter].slice(0, -1).join(''));
    else if (!ctrl && !meta && /^\P{C}+$/u.test(sequence)) this.choice = to((filter + sequence).slice(0, MOST_LETTERS));
  }

  /** The list may have got shorter: true where the choice is another for that. */
  fit({ rows, page }: { rows: number; page: number }): boolean {
    const { from } = this.choice;
    this.choice = { ...this.choice, from: Math.max(0, Math.min(from, rows - page)) };
    return this.choice.from !== from;
  }

  private move({ name = '' }: Key, list: { rows: number; page: number }): void {
    const { rows, page } = list;
    const steps: Record<string, number> = { up: -1, down: 1, pageup: -page, pagedown: page, home: -rows, end: rows };
    const sort = SORTS[name];
    if (sort !== undefined) this.choice = { ...this.choice, sort, from: 0 };
    this.choice = { ...this.choice, from: this.choice.from + (steps[name] ?? 0) };
    this.fit(list);
  }
}
