// In which group of editors a line opens, so that a page that is an editor itself keeps its form.
import assert from 'node:assert/strict';
import Module from 'node:module';
import { test } from 'node:test';

class TabInputWebview {}
class TabInputCustom {}
class Position {
  constructor(readonly line: number) {}
}
class Range {
  constructor(readonly start: Position) {}
}
const page = { activeTab: { input: new TabInputWebview() }, viewColumn: 1 };
const code = { activeTab: { input: {} }, viewColumn: 2 };
const opened: unknown[] = [];
const window = {
  tabGroups: { all: [page] as object[], activeTabGroup: page as object },
  showTextDocument: (_: unknown, { viewColumn }: { viewColumn: unknown }) => {
    opened.push(viewColumn);
    return Promise.resolve({ revealRange: () => undefined });
  },
};
const vscode = {
  TabInputWebview,
  TabInputCustom,
  Position,
  Range,
  TextEditorRevealType: {},
  ViewColumn: { Active: -1, Beside: -2 },
  Uri: { file: String },
  workspace: { openTextDocument: () => Promise.resolve({ lineCount: 9 }) },
  window,
};
const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown };
const { _load: load } = loader;
loader._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

async function columnFor(all: object[], active: object, room: boolean): Promise<unknown> {
  window.tabGroups = { all, activeTabGroup: active };
  const { openLine } = await import('../../../extension/editor/openLine');
  await openLine('/x/train.py', 3, { cwd: '/x', beside: null }, room);
  return opened.pop();
}

test('a line goes to the group that is there, to a new one if there is room, else into a tab', async () => {
  const { Active, Beside } = vscode.ViewColumn;
  assert.equal(await columnFor([page, code], page, true), code.viewColumn);
  assert.equal(await columnFor([page, code], page, false), code.viewColumn);
  assert.equal(await columnFor([page, code], code, true), Active);
  assert.equal(await columnFor([page], page, true), Beside);
  assert.equal(await columnFor([page], page, false), Active);
});
