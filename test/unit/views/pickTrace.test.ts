// The list of traces to compare with: runs of the shown program first, and how each ended.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QuickPickItem } from 'vscode';
import type { Sessions } from '../../../extension/views/session/sessions';
import { makeInfo } from '../fakeTrace';
import { importWith } from '../fakeVscode';

test('runs of the same program are first, the newest of them before the others, and who was stopped says so', async () => {
  let items: QuickPickItem[] = [];
  const vscode = {
    EventEmitter: class {},
    env: { language: 'en' },
    QuickPickItemKind: { Separator: -1 },
    Uri: { file: String },
    l10n: { t: (text: string, ...values: string[]) => text.replace(/\{(\d)\}/g, (_, i: string) => values[+i] ?? '') },
    window: { showQuickPick: (shown: QuickPickItem[]) => void (items = shown) },
  };
  const { pickTrace } = await importWith(vscode, () => import('../../../extension/views/session/pickTrace'));
  const run = (id: number, script: string, more = {}) => ({
    id,
    title: `${script} ${id}`,
    facts: { info: makeInfo({ session: { command: ['python', script], cwd: '/w', startedRealtimeMs: id } }) },
    folders: { cwd: '/w', beside: null },
    ...{ hasAllocations: true, phase: 'ended', leaks: 0, others: [], file: null, ...more },
  });
  const all = [run(1, 'a.py'), run(2, 'a.py', { stopped: true }), run(3, 'b.py'), run(4, 'a.py')];
  const closed = { file: '/k/c.gputrace', title: 'c.py', startMs: 0, peakBytes: 0, stopped: true };
  const recent = { refresh: () => Promise.resolve([closed]) };
  const listed = async (except: number): Promise<(string | undefined)[]> => {
    await pickTrace({ all, recent } as unknown as Sessions, 'Compare', { except, browse: [] });
    return items.filter(({ kind }) => kind === undefined).map(({ label }) => label);
  };
  assert.deepEqual(await listed(4), ['a.py 2', 'a.py 1', 'b.py 3', 'c.py']);
  const stopped = items.filter(({ description }) => /\bstopped\b/.test(description ?? ''));
  assert.deepEqual(
    stopped.map(({ label }) => label),
    ['a.py 2', 'c.py'],
  );
  const words = stopped.map(({ description = '' }) => description.replace(/^.* · (?=stopped)/, 'when · '));
  assert.deepEqual(words, ['when · stopped', 'when · stopped'], 'open or recent, in one order');
  assert.deepEqual(await listed(0), ['a.py 4', 'b.py 3', 'a.py 2', 'a.py 1', 'c.py'], 'the newest of all');
});
