import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FlameRect } from '../../../webview/explorer/flame/layout';
import { flameSvg } from '../../../webview/explorer/flame/picture';
import { placeKeys } from '../../../webview/explorer/common/keyRows';
import { askPython } from '../exporters/python';

const READ = `import json, sys, xml.dom.minidom
root = xml.dom.minidom.parse(sys.argv[1]).documentElement
text = lambda tag: ["".join(c.data for c in e.childNodes) for e in root.getElementsByTagName(tag)]
boxes = [[float(r.getAttribute(n) or 0) for n in ("x", "y", "width")] for r in root.getElementsByTagName("rect")]
print(json.dumps({"texts": text("text"), "titles": text("title"), "boxes": boxes, "height": root.getAttribute("height")}))`;

test('a flame graph is XML with its rectangles in place; texts are text, cut where there is no room', t => {
  const rects = [
    { x: 0, width: 1, row: 0, above: false },
    { x: 0.5, width: 0.25, row: 1, above: false },
    { x: 0.75, width: 0.01, row: 1, above: false },
  ] as FlameRect[];
  const names = ['<all> & "more"', 'a_function_with_a_long_name_that_has_no_room_here', 'tiny'];
  const name = (rect: FlameRect): string => names[rects.indexOf(rect)] ?? '';
  const words = { title: 'Flame <graph>', facts: 'train.py · \u0001', short: name, long: name };
  const theme = { background: '#ffffff', text: '#000000', dim: '#777777', border: '', fill: () => '#abcdef' };
  const folder = mkdtempSync(join(tmpdir(), 'gmt-flame-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'x.svg');
  writeFileSync(file, flameSvg(rects, 1024, words, theme));
  const read = askPython<{ texts: string[]; titles: string[]; boxes: number[][]; height: string }>(
    'python3',
    READ,
    file,
  );
  assert.deepEqual(read.titles, ['Flame <graph>', ...names]);
  assert.deepEqual(read.texts.slice(0, 3), ['Flame <graph>', 'train.py · \uFFFD', '<all> & "more"']);
  assert.match(read.texts[3] ?? '', /^a_function_with.*…$/);
  assert.equal(read.texts.length, 4, 'nothing stands in what is too narrow');
  assert.deepEqual(read.boxes, [
    [0, 0, 1024],
    [12, 56, 999],
    [512, 76, 249],
    [762, 76, 9],
  ]);
  assert.equal(read.height, '108');
});

test('keys go on in another row where they have no room', () => {
  const key = (words: string, fill: string | null = 'red') => ({ words, fill, line: false });
  const { placed, rows } = placeKeys([key('aaaa'), key('bb', null), key('cccc')], 90, text => text.length * 10);
  assert.deepEqual(
    placed.map(({ x, y }) => [x, y]),
    [
      [0, 0],
      [70, 0],
      [0, 18],
    ],
  );
  assert.equal(rows, 2);
  assert.deepEqual(
    placeKeys([], 90, () => 1),
    { placed: [], rows: 0 },
  );
  assert.equal(
    placeKeys([key('a'.repeat(50))], 90, text => text.length * 10).rows,
    1,
    'one alone never waits for room',
  );
});
