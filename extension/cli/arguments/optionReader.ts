/** A word of the command line may have any length. */
const LONG = /\S{200,}/g;

/** Thrown with a sentence on what is wrong with the command line. */
export class Usage extends Error {
  constructor(sentence: string) {
    super(sentence.replace(LONG, word => `${word.slice(0, 60)}…`));
  }
}
/** Thrown with a verb whose help is requested. */
export class HelpRequested extends Error {}

/** Walks over words of the form `--name value`, `--name=value`; `--` or a plain word ends the options. */
export class Options {
  private at = 0;
  private name = '';
  private attached: string | null = null;
  private plain = false;

  constructor(private readonly words: readonly string[]) {}

  next(): string | null {
    const word = this.words[this.at];
    if (this.plain || word === undefined || word === '-' || !/^--$|^-+[^-\s]/.test(word)) return null; // `-- …` begins a comment of SQL
    this.at++;
    if (word === '--') {
      this.plain = true;
      return null;
    }
    const equals = word.startsWith('--') ? word.indexOf('=') : -1;
    this.name = equals < 0 ? word : word.slice(0, equals);
    this.attached = equals < 0 ? null : word.slice(equals + 1);
    return this.name;
  }

  flag(): true {
    if (this.attached !== null) throw new Usage(`${this.name} takes no value.`);
    return true;
  }

  value(): string {
    const value = this.attached ?? this.words[this.at++];
    if (value === undefined || value === '' || (this.attached === null && value === '--')) {
      throw new Usage(`${this.name} needs a value.`);
    }
    return value;
  }

  /** One more value of the same option. */
  nextValue(): string {
    this.attached = null;
    return this.value();
  }

  choice<T extends string>(allowed: readonly T[]): T {
    const value = this.value();
    const found = allowed.find(candidate => candidate === value);
    if (found !== undefined) return found;
    const choices =
      allowed.length === 1 ? `the only value is ${allowed.join()}` : `choose one of ${allowed.join(', ')}`;
    throw new Usage(`${this.name} ${value}: ${choices}.`);
  }

  /** As `choice`, where the option alone stands for `bare`: the next word is its value only if it is one of these. */
  optionalChoice<T extends string>(allowed: readonly T[], bare: T): T {
    const next = this.words[this.at];
    return this.attached !== null || allowed.some(value => value === next) ? this.choice(allowed) : bare;
  }

  /** As `optionalChoice`, where a value matches `pattern`. */
  optionalValue(pattern: RegExp, bare: string): string {
    return this.attached !== null || pattern.test(this.words[this.at] ?? '') ? this.value() : bare;
  }

  positional(): string | null {
    return this.words[this.at++] ?? null;
  }

  rest(): string[] {
    return this.words.slice(this.at);
  }
}

/** How a verb takes each of its options, with its values, into what is parsed. */
export type OptionTable<T> = Readonly<Record<string, (parsed: T, options: Options) => void>>;

/** The words that are no options, which may stand between them. Throws `Usage`, `HelpRequested`. */
export function applyOptions<T extends { verb: string }>(
  parsed: T,
  words: readonly string[],
  table: OptionTable<T> = {},
): string[] {
  const named: string[] = [];
  const options = new Options(words);
  for (;;) {
    leadingOptions(parsed, options, table);
    const word = options.positional();
    if (word === null) return named;
    named.push(word);
  }
}

/** Takes options up to the next word that is none, and names them. Throws `Usage`, `HelpRequested`. */
export function leadingOptions<T extends { verb: string }>(
  parsed: T,
  options: Options,
  table: OptionTable<T>,
): string[] {
  const taken: string[] = [];
  const { verb } = parsed;
  for (let option = options.next(); option !== null; option = options.next()) {
    if (option === '--help' || option === '-h') throw new HelpRequested(verb);
    const take = table[option];
    if (take === undefined) {
      const near = nearest(option, Object.keys(table));
      const how = near === null ? ` (see "gpu-memtrace ${verb} --help").` : `: did you mean ${near}?`;
      throw new Usage(`${verb} has no option ${option}${how}`);
    }
    take(parsed, options);
    taken.push(option);
  }
  return taken;
}

/** The one that a word was probably meant to be: up to a third of its letters are wrong, missing, too many or changed about; null: none. */
export function nearest(word: string, known: readonly string[]): string | null {
  const letters = word.replace(/^-+/, '').length;
  const ranked = known.map(one => ({ one, wrong: distance(word.toLowerCase(), one.toLowerCase()) }));
  const [best] = ranked.sort((a, b) => a.wrong - b.wrong);
  return best !== undefined && best.wrong <= letters / 3 ? best.one : null;
}

/** Letters to change, leave out, put in or exchange with the next one (optimal string alignment). */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const now = [i];
    for (let j = 1; j <= b.length; j++) {
      const ways = [(last[j] ?? 0) + 1, (now[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)];
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) ways.push((before[j - 2] ?? 0) + 1);
      now.push(Math.min(...ways));
    }
    [before, last] = [last, now];
  }
  return last[b.length] ?? 0;
}
