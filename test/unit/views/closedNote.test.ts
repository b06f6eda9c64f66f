// The traces of a window: what the page says of one that was closed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as vscode from 'vscode';
import type { EngineProcess } from '../../../extension/client/engineProcess';
import type { RecentTraces } from '../../../extension/views/session/recentTraces';
import { importWith } from '../fakeVscode';

class EventEmitter<T> {
  private readonly listeners: ((value: T) => void)[] = [];
  readonly event = (listener: (value: T) => void): object => ({ dispose: this.listeners.push(listener) });
  fire = (value: T): void => this.listeners.forEach(listener => listener(value));
  dispose(): void {}
}
const nothing = (): undefined => undefined;
let status = '';
const parts = {
  EventEmitter,
  l10n: { t: (text: string, ...values: string[]) => text.replace(/\{(\d)\}/g, (_, i: string) => values[+i] ?? '') },
  window: { setStatusBarMessage: (text: string) => void (status = text), terminals: [] },
  workspace: { isTrusted: true },
};

test('the note on a closed trace stays until another one is shown: the list below it does not move', async t => {
  const { Sessions } = await importWith(parts, () => import('../../../extension/views/session/sessions'));
  const recent = { all: [], note: nothing, onDidChange: nothing } as unknown as RecentTraces;
  const memory = { get: (_: string, usual: unknown) => usual, update: () => Promise.resolve() };
  const sessions = new Sessions(
    '/',
    { close: nothing } as unknown as EngineProcess,
    { info: nothing } as unknown as vscode.LogOutputChannel,
    memory as unknown as vscode.Memento,
    recent,
  );
  t.mock.timers.enable({ apis: ['setTimeout'] });
  sessions.fail('a.py', 'It did not start.', []);
  sessions.close(sessions.shown?.id ?? 0);
  t.mock.timers.tick(60_000);
  assert.deepEqual([sessions.view().closed, status], ['a.py was closed.', 'a.py was closed.']);
  sessions.fail('b.py', 'It did not start.', []);
  assert.equal(sessions.view().closed, undefined);
});
