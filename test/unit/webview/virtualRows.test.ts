import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { VirtualRows } from '../../../webview/explorer/common/virtualRows';

before(() =>
  Object.assign(globalThis, {
    ResizeObserver: class {
      observe = (): void => undefined;
    },
  }),
);

function listOf(count: number) {
  let scrolled = (): void => undefined;
  let changes = 0;
  const scroller = {
    clientHeight: 0,
    scrollTop: 0,
    addEventListener: (_: string, look: () => void) => (scrolled = look),
  };
  const rows = new VirtualRows(scroller as unknown as HTMLElement, 10, () => changes++);
  rows.resize(count);
  const look = (height: number, top: number): void => {
    Object.assign(scroller, { clientHeight: height, scrollTop: top });
    scrolled();
  };
  const seen = (): number[] => rows.visible().map(({ index }) => index);
  return { rows, scroller, look, seen, changes: () => changes };
}

test('rows in sight, and six on either side; none without a height', () => {
  const { look, seen, rows, changes } = listOf(1_000);
  assert.deepEqual(seen(), []);
  look(50, 503);
  assert.deepEqual([seen()[0], seen().at(-1)], [44, 61]);
  assert.deepEqual(rows.visible()[0], { index: 44, top: 440 });
  look(50, 504);
  assert.equal(changes(), 1, 'the same rows are in sight');
  look(50, 9_950);
  assert.deepEqual([seen()[0], seen().at(-1)], [989, 999]);
});

test('a list that got shorter shows its end before the page has scrolled', () => {
  const { look, seen, rows } = listOf(1_000);
  look(50, 9_000);
  rows.resize(3);
  assert.deepEqual(seen(), [0, 1, 2]);
});

test('a row is brought into sight by the shortest way', () => {
  const { look, scroller, rows } = listOf(1_000);
  look(50, 500);
  const revealed = (index: number): number => {
    rows.reveal(index);
    return scroller.scrollTop;
  };
  assert.deepEqual([revealed(52), revealed(10), revealed(99)], [500, 100, 950]);
});
