import type { Verb } from './arguments';
import { helpLines, TEXT_COLUMN } from './help';

/** What can stand at a place of the command line: one of some words, the name of something, or anything. */
export interface Value {
  words: readonly string[];
  kind: 'words' | 'trace' | 'file' | 'folder' | 'command' | 'other';
}
export interface HelpOption {
  names: string[];
  /** null: it is a flag. */
  value: Value | null;
  /** Only what is attached with `=` is its value. */
  optional: boolean;
  text: string;
}
export interface HelpVerb {
  verb: string;
  text: string;
  /** Beside the options, in their order. */
  places: Value[];
  options: HelpOption[];
}

const OPTION = /^ {2}-/;
const CHOICE = /^ {6}(\S+)/;
const NAMES: [RegExp, Value['kind']][] = [
  [/^CMD/, 'command'],
  [/^BASE/, 'trace'],
  [/^(FILE|PATH)\b/, 'file'],
  [/^(FOLDER|DIR)\b/, 'folder'],
];

/** What the help has on each verb. `checkout`: of the repository. */
export function helpVerbs(checkout: boolean): HelpVerb[] {
  return helpLines(null, Infinity, checkout).flatMap(line => {
    const [, verb = '', text = ''] = /^ {2}gpu-memtrace (\w+).*? {2,}(\S.*)$/.exec(line) ?? [];
    return verb === '' ? [] : [{ verb, text, ...partsOf(helpLines(verb as Verb, Infinity, checkout)) }];
  });
}

function partsOf([usage = '', ...lines]: readonly string[]): Pick<HelpVerb, 'places' | 'options'> {
  const words = usage.split(' ').slice(2);
  const places = words.filter(word => word !== '[options]' && word !== '--').map(word => valueOf(word));
  const options: HelpOption[] = [{ names: ['-h', '--help'], value: null, optional: false, text: 'show the help' }];
  lines.forEach((line, at) => {
    if (OPTION.test(line)) options.push(optionOf(line, lines.slice(at + 1)));
  });
  const first = (option: HelpOption, at: number): boolean =>
    options.findIndex(({ names }) => names.some(name => option.names.includes(name))) === at;
  return {
    places: places.map(place => (place.kind === 'file' ? { ...place, kind: 'trace' } : place)),
    options: options.filter(first),
  };
}

function optionOf(line: string, below: readonly string[]): HelpOption {
  const alone = line[TEXT_COLUMN - 1] !== ' '; // its head fills the line
  const head = (alone ? line : line.slice(0, TEXT_COLUMN)).trim();
  const [, names = '', rest = ''] = /^((?:-\w, )?-+[\w-]+)(.*)$/.exec(head) ?? [];
  const end = below.findIndex(each => !/^ {6}/.test(each));
  const own = below.slice(0, end < 0 ? below.length : end);
  const choices = own.flatMap(each => (each[TEXT_COLUMN - 1] === ' ' ? (CHOICE.exec(each)?.[1] ?? []) : []));
  const isText = (each: string): boolean => !CHOICE.test(each);
  const text = [alone ? '' : line.slice(TEXT_COLUMN), ...own.filter(isText)].map(each => each.trim()).join(' ');
  return {
    names: names.split(', '),
    value: rest === '' ? null : choices.length > 0 ? { words: choices, kind: 'words' } : valueOf(rest),
    optional: rest.trim().startsWith('['),
    text:
      text
        .trim()
        .split(/[;(]|\.\s|, such/)[0]
        ?.trim() ?? '',
  };
}

/** `table|json`, `[=all]`, ` FILE`, `PID|FOLDER`. */
function valueOf(placeholder: string): Value {
  const parts = placeholder.replace(/[[\]=" ]/g, '').split('|');
  const words = parts.filter(part => /^[a-z][\w-]*$/i.test(part) && /[a-z]/.test(part));
  if (words.length === parts.length) return { words, kind: 'words' };
  const kind = NAMES.find(([name]) => parts.some(part => name.test(part)))?.[1] ?? 'other';
  return { words: [], kind };
}
