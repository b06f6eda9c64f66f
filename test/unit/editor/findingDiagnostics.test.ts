// Problems: an entry has the severity of its card at every moment, its lines add up, and an exception has one too.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type * as vscode from 'vscode';
import { makeFinding } from '../../../extension/analysis/findings/kinds/wording';
import type { SourceLines } from '../../../extension/editor/sourceLines';
import type { WindowTrace, WindowTraces } from '../../../extension/editor/windowTraces';
import type { Finding, FindingPlace } from '../../../extension/protocol/verdicts';
import { makeInfo } from '../fakeTrace';
import { importWith } from '../fakeVscode';

const file = join(mkdtempSync(join(tmpdir(), 'gmt-problems-')), 'train.py');
const TEXT = Array.from({ length: 20 }, (_, at) => `line${at + 1}()`);
writeFileSync(file, TEXT.join('\n'));

class Range {
  constructor(readonly line: number) {}
  isEqual = (other: Range): boolean => other.line === this.line;
}
class Entry {
  source = '';
  code: unknown;
  relatedInformation: { location: { range: Range }; message: string }[] = [];
  constructor(
    readonly range: Range,
    readonly message: string,
    readonly severity: string,
  ) {}
}
let entries: Entry[] = [];
const parts = {
  languages: {
    createDiagnosticCollection: () => ({
      clear: () => (entries = []),
      set: (_: object, all: Entry[]) => (entries = all),
    }),
    registerCodeActionsProvider: () => ({}),
  },
  CodeActionKind: {},
  DiagnosticSeverity: { Error: 'Error', Warning: 'Warning', Information: 'Information' },
  Diagnostic: Entry,
  DiagnosticRelatedInformation: class {
    constructor(
      readonly location: object,
      readonly message: string,
    ) {}
  },
  Location: class {
    constructor(
      readonly uri: object,
      readonly range: Range,
    ) {}
  },
  Range,
  Uri: { file: (fsPath: string) => ({ fsPath }) },
  l10n: { t: (text: string, ...values: string[]) => text.replace(/\{(\d)\}/g, (_, i: string) => String(values[+i])) },
};
const lines = {
  onDidEdit: () => ({}),
  now: (_: string, line: number) => line,
  text: () => TEXT,
} as unknown as SourceLines;

const place = (line: number, bytesPerStep: number): FindingPlace =>
  ({ file, line, function: 'main', site: line, bytesPerStep }) as FindingPlace;
const finding = (part: Partial<Finding>): Finding => ({
  ...makeFinding({ id: 'x', verdict: 'leak', headline: 'x keeps y', process: 0, suggestion: '', holder: null }),
  ...part,
});
const run = (findings: readonly Finding[], raised: WindowTrace['raised'] = null): WindowTrace =>
  ({
    id: 1,
    folders: { cwd: '/', beside: null },
    facts: { info: makeInfo({}), findings },
    raised,
  }) as unknown as WindowTrace;

/** As VS Code writes it. */
const sourceOf = (entry?: Entry): string =>
  `${entry?.source}${entry?.code === undefined ? '' : `(${String(entry.code)})`}`;

/** What changes the traces of a window. */
async function problems(): Promise<(trace: WindowTrace) => Entry[]> {
  const { FindingDiagnostics } = await importWith(parts, () => import('../../../extension/editor/findingDiagnostics'));
  let changed = (): void => undefined;
  const traces = {
    all: [] as WindowTrace[],
    shown: null,
    onDidChangeBeside: (listener: () => void) => ((changed = listener), {} as vscode.Disposable),
  };
  new FindingDiagnostics(traces as unknown as WindowTraces, lines);
  return trace => {
    traces.all = [trace];
    changed();
    return entries;
  };
}

test('what is certain now is a warning now, also where the same trace had a suspicion', async () => {
  const show = await problems();
  const trace = run([finding({ verdict: 'rising', place: place(3, 8) })]);
  assert.deepEqual(
    show(trace).map(({ severity }) => severity),
    ['Information'],
  );
  assert.deepEqual(sourceOf(show(trace)[0]), 'GPU Memory Trace · Suspected leak');
  Object.assign(trace, { facts: { ...trace.facts, findings: [finding({ place: place(3, 8) })] } });
  assert.deepEqual(
    show(trace).map(({ severity }) => severity),
    ['Warning'],
  );
});

test('the lines that allocate begin with its own, and add up', async () => {
  const show = await problems();
  const places = [5, 6, 7, 3, 8, 9, 10, 11, 12, 13, 14].map(line => place(line, 1024));
  const [entry] = show(run([finding({ place: place(3, 1024), places, bytesPerStep: 11 * 1024 })]));
  const found = entry?.relatedInformation.map(({ location, message }) => `${location.range.line + 1} ${message}`);
  assert.equal(found?.length, 9);
  assert.equal(found[0], '3 Allocated here: +1 KiB per step');
  assert.equal(found[8], '3 And 3 more lines: +3 KiB per step');
  const [alone] = show(run([finding({ place: place(3, 1024), places: [place(3, 1024)], bytesPerStep: 1024 })]));
  assert.deepEqual(alone?.relatedInformation, [], 'its own line alone says nothing new');
});

test('the exception that ended a program is an error at its line', async () => {
  const show = await problems();
  const sentence = 'ModuleNotFoundError: none (train.py:2)';
  const [entry, ...more] = show(run([], { sentence, file, line: 2 }));
  assert.deepEqual([entry?.severity, entry?.range.line, entry?.message, more.length], ['Error', 1, sentence, 0]);
  assert.deepEqual(show(run([])), []);
});
