// The recent traces: newest first, each once, remembered over windows, and only those whose file is there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as vscode from 'vscode';
import { importWith } from '../fakeVscode';
import { makeInfo, makeProcess, makeTotals } from '../fakeTrace';

class EventEmitter {
  readonly event = (): void => undefined;
  fire(): void {}
  dispose(): void {}
}
const l10n = {
  t: (text: string, ...values: string[]) => text.replace(/\{(\d)\}/g, (_, i: string) => values[+i] ?? ''),
};
const sizes = new Map<string, number>();
const stat = (file: string) =>
  sizes.has(file) ? Promise.resolve({ size: sizes.get(file) }) : Promise.reject(new Error('gone'));
function memoryWith(recentTraces?: unknown): vscode.Memento {
  const stored = new Map<string, unknown>(Object.entries({ recentTraces }));
  return {
    get: (key: string, usual: unknown) => stored.get(key) ?? usual,
    update: (key: string, value: unknown) => Promise.resolve(void stored.set(key, value)),
  } as unknown as vscode.Memento;
}
const vscodeParts = { EventEmitter, env: { language: 'en' }, l10n, Uri: { file: String }, workspace: { fs: { stat } } };

test('the latest recorded is first, each is there once, what is gone is left out, and a new window has them too', async () => {
  const { RecentTraces, summaryOf, summaryWords } = await importWith(
    vscodeParts,
    () => import('../../../extension/views/session/recentTraces'),
  );
  const memory = memoryWith(['strange']);
  const info = makeInfo({
    startRealtimeMs: 1_760_000_000_001,
    processes: [makeProcess({ command: ['python', 'train.py'] })],
    totals: [makeTotals({ layer: 'tensor', allocations: 1, peakBytes: 2048 })],
  });
  const recent = new RecentTraces(memory);
  for (const name of ['a', 'gone', 'a', 'b']) {
    const file = `/x/${name}.gputrace`;
    sizes.set(file, 2);
    recent.note({
      ...summaryOf(file, name === 'b' ? { ...info, startRealtimeMs: 1_760_000_000_000 } : info),
      leaks: 2,
    });
  }
  sizes.delete('/x/gone.gputrace');
  for (const one of [recent, new RecentTraces(memory)]) {
    const files = (await one.refresh()).map(({ file }) => file);
    assert.deepEqual(files, ['/x/a.gputrace', '/x/b.gputrace']);
  }
  const [newest] = recent.all;
  assert.deepEqual([newest?.title, newest?.peakBytes], ['a.gputrace', 2048]);
  assert.match(
    summaryWords(newest!),
    /^train\.py · .*2025.* · 2\u00a0leaks · peak\u00a02\u00a0KiB$/,
    'a line ends between the parts',
  );
  assert.doesNotMatch(summaryWords({ ...newest!, startMs: Date.now() }), /\b20\d\d\b/, 'the year is this one');
  for (const [end, word] of [
    [{ failed: true }, / · failed · /],
    [{ failed: false, stopped: true }, / · stopped · /],
  ] as const) {
    recent.note({ ...newest!, ...end });
    recent.note(newest!);
    const [again] = await recent.refresh();
    assert.match(summaryWords(again!), word, 'who opens its file later does not know');
  }
});

test('the latest 30 stay whatever else is noted, and of older ones those noted lately', async () => {
  const { RecentTraces } = await importWith(vscodeParts, () => import('../../../extension/views/session/recentTraces'));
  const recent = new RecentTraces(memoryWith());
  const note = (startMs: number): void => {
    sizes.set(`/y/${startMs}`, 1);
    recent.note({ file: `/y/${startMs}`, title: 'train.py', startMs, peakBytes: 1 });
  };
  for (let startMs = 101; startMs <= 132; startMs++) note(startMs);
  for (let startMs = 1; startMs <= 9; startMs++) note(startMs);
  const left = (await recent.refresh()).map(({ startMs }) => startMs);
  assert.deepEqual(left, [...Array.from({ length: 30 }, (_, i) => 132 - i), 9, 8, 7, 6, 5, 4, 3, 2]);
});

test('each workspace has its own; a kept trace is called by its script, a file by its name; each verdict is there', async () => {
  const { RecentTraces, summaryOf, summaryWords } = await importWith(
    vscodeParts,
    () => import('../../../extension/views/session/recentTraces'),
  );
  const info = makeInfo({ processes: [makeProcess({ command: ['python', 'src/forecast.py', '--steps', '9'] })] });
  const kept = '/cache/forecast.py-20261129-224500-7.gputrace';
  const [one, other] = [new RecentTraces(memoryWith()), new RecentTraces(memoryWith())];
  for (const [list, file, more] of [
    [one, kept, { others: ['rose', 'oom'] }],
    [other, '/x/gpt8.gputrace', {}],
    [other, '/x/forecast.pickle', { leaks: 1, others: ['rose'] }],
  ] as const) {
    sizes.set(file, 1);
    list.note({ ...summaryOf(file, info), ...more });
  }
  const shown = async (list: typeof one): Promise<string[]> =>
    (await list.refresh()).map(trace => `${trace.title}: ${summaryWords(trace).replaceAll('\u00a0', ' ')}`);
  const when = '[^·]+';
  assert.match(
    (await shown(one)).join('\n'),
    new RegExp(`^forecast\\.py: ${when} · Grew until the end · Out of memory$`),
  );
  assert.match(
    (await shown(other)).sort().join('\n'),
    new RegExp(`^forecast\\.pickle: forecast\\.py · ${when} · 1 leak\ngpt8\\.gputrace: forecast\\.py · ${when}$`),
  );
});
