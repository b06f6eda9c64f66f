// Replaces the names of a page's program and machine: the same name always by the same word.
import { remembered } from '../base/maps';
import { isFields } from '../base/fields';
import { isSnapshot, isWarning } from '../protocol/notes';
import { words } from './publicNames.json';
import type { RecordedPage } from './recordPage';

/** Words of ours, and keys. */
const KEPT_FIELDS =
  /^(layer|source|state|verdict|class|cause|kind|category|pass|driverSource|grows|limit|overall|phase|type|devices|\$\w+)$/;
const IDENTIFIER = /[A-Za-z_]\w*/g;
const KEPT_LABELS = new RegExp(`${KEPT_FIELDS.source}|^label$`);
/** Of Python, PyTorch, the GPU's libraries and our own sentences about code. */
const PUBLIC = new Set(words);
/** Everybody has them; of a path what stands behind is kept. */
const SHARED = [
  /\/(?:site|dist)-packages\/((?:torch|nvidia|triton|numpy)\/.*)$/,
  /\/lib\/(python3[\d.]*\/(?!.*-packages).*)$/,
];
const PATH = /(?<![\w.:])\/(?:[\w.@+ -]+\/)+[\w.@+-]*/g;

export function redactPage({ session, answers }: RecordedPage): RecordedPage {
  const names = new Names();
  for (const [key, value] of [...answers, ['session', session] as const])
    names.collect(value, key.split(' ')[0] ?? '', key);
  const clean = <T>(value: T, kept = KEPT_FIELDS): T => names.clean(value, '', kept) as T;
  const info = session.info && {
    ...session.info,
    session: {},
    answers: [],
    processes: session.info.processes.map(one => ({
      ...one,
      command: ['program'],
      uid: 0,
      notes: one.notes.filter(note => isWarning(note) || isSnapshot({ notes: [note] })),
    })),
  };
  const cleaned = [...answers].map(([key, value]) => {
    // Ids of findings are parts of keys.
    const known = key.startsWith('otherLines ') ? names.text(key) : key;
    return [known, clean(value, /^sites .*"(category|pool)"\]/.test(key) ? KEPT_LABELS : KEPT_FIELDS)] as const;
  });
  return { session: clean({ ...session, info }), answers: new Map(cleaned) };
}

class Names {
  private readonly words = new Map<string, string>();
  private readonly numbers = new Map<string, number>();
  private readonly keys = new Map<string, string>();
  private pattern: RegExp | null = null;

  /** Gathers names that stand in fields of their own, before any text is read for them. */
  collect(value: unknown, field: string, key: string): void {
    if (typeof value === 'string') return this.collectText(value, field, key);
    if (Array.isArray(value)) for (const one of value) this.collect(one, field, key);
    else if (isFields(value) && !ArrayBuffer.isView(value))
      for (const [name, one] of Object.entries(value))
        if (name !== 'function') this.collect(one, name, key);
        else this.collect(ownFunctions(value.file, one), name, key);
  }

  private collectText(text: string, field: string, key: string): void {
    if (field === 'file' || field === 'library' || text.startsWith('/')) this.addFile(text);
    if (field === 'cwd') this.add(text, 'folder');
    const isName =
      /^(function|module|modules|pools|container|path|chain|before|after|statement|command|branch|run)$/.test(field) ||
      (field === 'name' && /^(allocations|ranges|compareTraces|session)/.test(key) && !/NVIDIA|GPU/.test(text)) ||
      (field === 'label' && /module-path|peakCard|^session/.test(key) && !/^\S* ?\(/.test(text));
    if (isName && !text.startsWith('/')) this.addNames(text);
    for (const [, code = ''] of text.matchAll(/`([^`]*)`/g)) this.addNames(code);
    for (const [, name = ''] of text.matchAll(/^(?:host|user)=(.*)$/g)) this.add(name, 'host');
  }

  private addNames(text: string): void {
    for (const [name] of text.matchAll(IDENTIFIER))
      if (!PUBLIC.has(name) && !/^__\w+__$|^\d|^(?:layers?|linear|norm|conv|bn|fc)\d*$/.test(name))
        this.add(name, 'name');
  }

  private addFile(file: string): void {
    const path = file.replace(/:\d+$/, '');
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (path === '' || SHARED.some(shared => shared.test(path)) || path.startsWith('<')) return;
    const ending = /\.\w+$/.exec(name)?.[0] ?? '';
    const word = this.add(path, 'file', ending);
    if (name !== '') remembered(this.words, name, () => word);
    const stem = name.slice(0, name.length - ending.length);
    if (ending === '.py' && !PUBLIC.has(stem)) remembered(this.words, stem, () => word.slice(0, -3));
  }

  private add(original: string, kind: string, ending = ''): string {
    if (original === '') return '';
    return remembered(this.words, original, () => {
      const number = (this.numbers.get(kind) ?? 0) + 1;
      this.numbers.set(kind, number);
      return `${kind}${number}${ending}`;
    });
  }

  text(text: string): string {
    this.pattern ??= new RegExp(
      `(?<!\\w)(?:${
        [...this.words.keys()]
          .sort((a, b) => b.length - a.length)
          .map(escaped)
          .join('|') || '(?!)'
      })(?!\\w)`,
      'g',
    );
    const replaced = text.replace(this.pattern, word => this.words.get(word) ?? word);
    return replaced.replace(PATH, path => SHARED.map(shared => shared.exec(path)?.[1]).find(Boolean) ?? 'path');
  }

  /** `kept`: fields that stay as they are. */
  clean(value: unknown, field: string, kept: RegExp): unknown {
    if (typeof value === 'string')
      return kept.test(field) ? value : field === 'key' ? this.key(value) : this.text(value);
    if (Array.isArray(value)) return value.map(one => this.clean(one, field, kept));
    if (!isFields(value) || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.clean(one, name, kept)]));
  }

  /** The hash of a stack can be matched with a known stack. */
  private key(key: string): string {
    return remembered(this.keys, key, () => this.keys.size.toString(16).padStart(16, '0'));
  }
}

const isShared = (file: unknown): boolean => typeof file === 'string' && SHARED.some(shared => shared.test(file));

/** Those whose files not everybody has: a function and its file, or a column of each. */
function ownFunctions(file: unknown, name: unknown): unknown {
  if (Array.isArray(name) && Array.isArray(file)) return name.filter((_, i) => !isShared(file[i]));
  return isShared(file) ? '' : name;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
