// In which group of editors a line opens, so that a page that is an editor itself keeps its form.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importWith } from '../fakeVscode';

class TabInputWebview {}
class TabInputCustom {}
class Position {
  constructor(readonly line: number) {}
}
class Range {
  constructor(readonly start: Position) {}
}
class Selection extends Range {}
const page = { activeTab: { input: new TabInputWebview() }, viewColumn: 1 };
const code = { activeTab: { input: {} }, viewColumn: 2 };
interface Shown {
  viewColumn: number;
  preserveFocus?: boolean;
  selection?: Range;
}
const opened: Shown[] = [];
const layouts: object[] = [];
const revealed: unknown[] = [];
const tabGroups = { all: [] as object[], activeTabGroup: page as object };
const ViewColumn = { Active: -1, Beside: -2 };
const vscode = {
  TabInputWebview,
  TabInputCustom,
  Position,
  Range,
  Selection,
  TextEditorRevealType: { InCenterIfOutsideViewport: 'if outside' },
  ViewColumn,
  Uri: { file: String },
  workspace: { openTextDocument: () => Promise.resolve({ lineCount: 9 }) },
  commands: { executeCommand: (_: string, layout: object) => layouts.push(layout) },
  window: {
    tabGroups,
    showTextDocument: (_: unknown, { viewColumn, preserveFocus = false, selection }: Shown) => {
      opened.push({ viewColumn, preserveFocus });
      if (selection !== undefined) revealed.push('always');
      return Promise.resolve({
        set selection({ start: { line } }: Selection) {
          revealed.push(line);
        },
        revealRange: ({ start: { line } }: Range, how: string) => revealed.push(line, how),
      });
    },
  },
};

async function openedIn(
  all: object[],
  active: object,
  room: number,
  preserveFocus = false,
): Promise<Shown | undefined> {
  Object.assign(tabGroups, { all, activeTabGroup: active });
  const { openLine } = await importWith(vscode, () => import('../../../extension/editor/openLine'));
  await openLine('/x/train.py', 3, { cwd: '/x', beside: null }, { room, preserveFocus });
  return opened.pop();
}
const columnFor = async (...at: Parameters<typeof openedIn>): Promise<unknown> => (await openedIn(...at))?.viewColumn;

test('a line goes to the group that is there, to a new one if there is room, else into a tab', async () => {
  const { Active, Beside } = ViewColumn;
  assert.equal(await columnFor([page, code], page, 50), code.viewColumn);
  assert.equal(await columnFor([page, code], page, 0), code.viewColumn);
  assert.equal(await columnFor([page, code], code, 50), Active);
  assert.equal(await columnFor([page], page, 50), Beside);
  assert.equal(await columnFor([page], page, 0), Active);
  assert.deepEqual(layouts, [], 'VS Code halves the room');
});

test('beside a page that needs more than half of the room, the new group gets the rest; one that was there keeps its own', async () => {
  await columnFor([page, code], page, 66);
  assert.deepEqual(layouts, []);
  assert.equal(await columnFor([page], page, 66), ViewColumn.Beside);
  assert.deepEqual(layouts, [{ orientation: 0, groups: [{ size: 0.66 }, { size: 0.34 }] }]);
});

test('the keyboard stays in the page, but not where the line covers it', async () => {
  const keeps = async (...at: [object[], object, number]): Promise<boolean | undefined> =>
    (await openedIn(...at, true))?.preserveFocus;
  assert.equal(await keeps([page, code], code, 0), true);
  assert.equal(await keeps([page, code], page, 0), true);
  assert.equal(await keeps([page], page, 50), true);
  assert.equal(await keeps([page], page, 0), false);
});

test('a line that is in sight does not move', async () => {
  revealed.length = 0;
  await openedIn([page, code], code, 0);
  assert.deepEqual(revealed, [2, 2, 'if outside']);
});
