// The status bar: a warning stands for leaks that are not fixed in the editor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sessions } from '../../../extension/views/session/sessions';
import { importWith } from '../fakeVscode';

const l10n = {
  t: (text: string, ...values: string[]) => text.replace(/\{(\d)\}/g, (_, i: string) => values[+i] ?? ''),
};
const item = { text: '', show: () => undefined, hide: () => undefined, dispose: () => undefined };
class TabInputCustom {
  constructor(readonly viewType: string) {}
}
const activeTab: { input: unknown } = { input: null };
let changeTabs = (): void => undefined;
const never = (): object => ({ dispose: () => undefined });
const tabGroups = {
  activeTabGroup: { activeTab },
  onDidChangeTabs: (listener: () => void) => ({ dispose: (changeTabs = listener) }),
  onDidChangeTabGroups: never,
};
const window = { createStatusBarItem: () => item, tabGroups };
const parts = { window, l10n, StatusBarAlignment: { Left: 1 }, TabInputCustom };
const load = () => importWith(parts, () => import('../../../extension/views/session/statusBar'));

test('the figure has the moment that the panel shows', async () => {
  const { StatusItem } = await load();
  const totals = [{ layer: 'tensor', allocations: 1, peakBytes: 4096 }];
  const facts = { info: { totals }, findings: null };
  const shown: object = { title: 'a.py', phase: 'running', facts, liveBytes: 2048, shownMoment: { when: null } };
  let update = (): void => undefined;
  const event = (listener: () => void): object => ({ dispose: (update = listener) });
  const sessions = { all: [] as unknown[], shown, onDidChangeBeside: event };
  new StatusItem(sessions as unknown as Sessions, { onDidEdit: event as never, fixedIn: () => [] });
  const states = [
    { running: true, recordingOn: true },
    { running: true, recordingOn: false },
    { running: false, phase: 'ended' },
    { running: false, phase: 'ended', shownMoment: { when: 'at the end of step 61' } },
    { running: true, recordingOn: true, shownMoment: { when: 'in step 3, at 1.20 s' } },
  ];
  const texts = states.map(state => {
    sessions.shown = { ...shown, ...state };
    update();
    return item.text.replace(/\$\(.*?\) /, '');
  });
  assert.deepEqual(texts, [
    'peak 4 KiB',
    'peak 4 KiB',
    '2 KiB at the end',
    '2 KiB at the end of step 61',
    '2 KiB in step 3, at 1.20 s',
  ]);
});

test('beside the page of a saved trace, the figure names the run that it is of', async () => {
  const { StatusItem } = await load();
  const shown = { title: 'a.py', running: false, phase: 'ended', liveBytes: 2048, shownMoment: { when: null } };
  const sessions = { all: [shown], shown, onDidChangeBeside: never } as unknown as Sessions;
  new StatusItem(sessions, { onDidEdit: never as never, fixedIn: () => [] });
  const inputs = ['gpuMemoryTrace.savedTrace', 'other.viewer', 'gpuMemoryTrace.snapshot'];
  const texts = [...inputs.map(type => new TabInputCustom(type)), null].map(input => {
    activeTab.input = input;
    changeTabs();
    return item.text.replace(/\$\(.*?\) /, '');
  });
  const alone = '2 KiB at the end';
  assert.deepEqual(texts, [`a.py: ${alone}`, alone, `a.py: ${alone}`, alone]);
});

test('a warning of an ended run goes with the edit that fixes its last leak', async () => {
  const { StatusItem } = await load();
  const findings = ['a', 'b'].map(id => ({ id, verdict: 'leak' }));
  const shown = { running: false, phase: 'ended', facts: { findings }, liveBytes: 0, shownMoment: { when: null } };
  const listeners: (() => void)[] = [];
  const event = (listener: () => void) => ({ dispose: listeners.push(listener) });
  let fixed: string[] = [];
  const sessions = { all: [shown], shown, onDidChangeBeside: event } as unknown as Sessions;
  new StatusItem(sessions, { onDidEdit: event as never, fixedIn: () => fixed });
  const icons = [[], ['a'], ['a', 'b'], ['b']].map(now => {
    fixed = now;
    listeners.at(-1)?.();
    return item.text.split(' ')[0];
  });
  assert.deepEqual(icons, ['$(warning)', '$(warning)', '$(circle-outline)', '$(warning)']);
});
