// The status bar: a warning stands for leaks that are not fixed in the editor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sessions } from '../../../extension/views/session/sessions';
import { importWith } from '../fakeVscode';

test('a warning of an ended run goes with the edit that fixes its last leak', async () => {
  const item = { text: '', show: () => undefined, hide: () => undefined, dispose: () => undefined };
  const window = { createStatusBarItem: () => item };
  const l10n = { t: (text: string) => text };
  const { StatusItem } = await importWith(
    { window, l10n, StatusBarAlignment: { Left: 1 } },
    () => import('../../../extension/views/session/statusBar'),
  );
  const findings = ['a', 'b'].map(id => ({ id, verdict: 'leak' }));
  const shown = { running: false, phase: 'ended', facts: { findings }, liveBytes: 0, ending: null };
  const listeners: (() => void)[] = [];
  const event = (listener: () => void) => ({ dispose: listeners.push(listener) });
  let fixed: string[] = [];
  const sessions = { all: [shown], shown, onDidChange: event } as unknown as Sessions;
  new StatusItem(sessions, { onDidEdit: event as never, fixedIn: () => fixed });
  const icons = [[], ['a'], ['a', 'b'], ['b']].map(now => {
    fixed = now;
    listeners.at(-1)?.();
    return item.text.split(' ')[0];
  });
  assert.deepEqual(icons, ['$(warning)', '$(warning)', '$(circle-outline)', '$(warning)']);
});
