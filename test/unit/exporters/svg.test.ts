import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { HeldLines } from '../../../extension/exporters/heldLines';
import { svgChunks } from '../../../extension/exporters/svg';
import type { ExportInput } from '../../../extension/exporters/exportInput';
import { escapeXml } from '../../../extension/protocol/xml';
import { askPython } from './python';
import { allocations, batchOf, bytesOf, info, MB, sampleInput } from './sampleTrace';

const READ = `import json, sys, xml.dom.minidom
root = xml.dom.minidom.parse(sys.argv[1]).documentElement
texts = ["".join(c.data for c in t.childNodes) for t in root.getElementsByTagName("text")]
paths = {p.getAttribute("class"): p.getAttribute("d") for p in root.getElementsByTagName("path") if p.getAttribute("d").count("L")}
print(json.dumps({"tag": root.tagName, "texts": texts, "paths": paths, "width": root.getAttribute("width")}))`;
interface Picture {
  tag: string;
  texts: string[];
  paths: Record<string, string>;
  width: string;
}

/** The picture as an XML reader sees it. */
async function drawn(t: TestContext, input: ExportInput): Promise<Picture> {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-svg-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'x.svg');
  writeFileSync(file, await bytesOf(svgChunks(input)));
  return askPython<Picture>('python3', READ, file);
}

/** The sample, with the series that its allocations make, a bucket an event. */
function withSeries(input: ExportInput): ExportInput {
  const tensor = Float64Array.from([2e9, 0, 4, 4, 3e9, 4, 6, 6, 4e9, 2, 3, 3, 5e9, 3, 4, 4, 6e9, 3, 4, 3], scaled);
  const driver = Float64Array.from([1e9, 0, 20, 20], scaled);
  input.trace.timeline = ({ series, fromNs, toNs }) => {
    const points = series === 'tensor' ? tensor : series === 'driver' ? driver : new Float64Array();
    return points.filter((_, i) => points[i - (i % 4)]! >= fromNs && points[i - (i % 4)]! < toNs);
  };
  return input;
}
const scaled = (value: number, i: number): number => (i % 4 === 0 ? value : value * MB);

const numbers = (path: string): [number, number][] =>
  path
    .replace('M', '')
    .split('L')
    .map(pair => pair.split(' ').map(Number) as [number, number]);

test('it is XML, says what was lost, that the GPU was simulated, and the peaks', async t => {
  const { tag, texts, paths, width } = await drawn(t, withSeries(sampleInput()));
  assert.deepEqual([tag, width], ['svg', '1200']);
  for (const words of [
    'GPU memory over time',
    'The GPU was simulated.',
    '5 events lost (budget 5): sums may be wrong by these.',
    'live tensors, peak 6.00 MB',
    'driver, peak 20.00 MB',
    'up to 6.00 MB: train.py:41 step',
    'up to 1.00 MB: (no Python line)',
  ])
    assert.ok(texts.includes(words), `${words} is not in ${texts.join('; ')}`);
  assert.ok(!texts.some(text => text.startsWith('reserved')), 'what was not seen is not named');
  assert.deepEqual(Object.keys(paths).sort(), ['g0', 'g1', 'g2', 'line driver', 'line tensor', 'rest']);
});

test('bytes are heights: the driver holds 20 of 20 MB, the tensors 3 of them at the end', async t => {
  const { texts, paths } = await drawn(t, withSeries(sampleInput()));
  const heights = (kind: string): number[] => numbers(paths[`line ${kind}`] ?? '').map(([, y]) => y);
  const [zero, full] = [Math.max(...heights('driver')), Math.min(...heights('driver'))];
  assert.ok(texts.includes('20 MB'), 'the axis ends there');
  assert.ok(Math.abs(zero - full - 400) < 0.2);
  assert.ok(Math.abs((zero - heights('tensor').at(-1)!) / (zero - full) - 3 / 20) < 0.001);
  assert.ok(Math.abs((zero - Math.min(...heights('tensor'))) / (zero - full) - 6 / 20) < 0.001);
});

test('texts of the program are text', async t => {
  const command = ['python', 'a<b>&"c".py', '\u0007\ud800'];
  const facts = { ...info, session: { ...info.session, command } };
  const { texts } = await drawn(t, withSeries(sampleInput({ facts })));
  assert.ok(texts.some(text => text.includes('python a<b>&"c".py \uFFFD\uFFFD')));
  assert.ok(texts.some(text => text.includes('=train, "odd".py:7 =HYPERLIN')));
  assert.equal(escapeXml('<script>"&😀'), '&lt;script&gt;&quot;&amp;😀');
});

test('of a span: its columns, and only what was allocated in it', async t => {
  const selection = { fromNs: 4e9, untilNs: 6e9 };
  const { texts } = await drawn(t, withSeries(sampleInput({ selection })));
  assert.ok(texts.includes('4.0 s') && texts.includes('6.0 s') && !texts.includes('2.0 s'));
  assert.deepEqual(
    texts.filter(text => text.startsWith('up to')),
    ['up to 1.00 MB: (no Python line)'],
  );
});

test('a line holds in a column what was alive throughout it', () => {
  const lines = new HeldLines(sampleInput(), 'tensor', { fromNs: 0, toNs: 10e9, columns: 5 });
  lines.add(batchOf(allocations));
  const held = lines.biggest(9).map(line => [line.name, [...line.held].map(bytes => bytes / MB)]);
  assert.deepEqual(held, [
    ['train.py:41 step', [0, 4, 2, 2, 2]],
    ['=train, "odd".py:7 =HYPERLINK("x")', [0, 0, 1, 0, 0]],
    ['(no Python line)', [0, 0, 0, 1, 1]],
  ]);
  assert.equal(lines.biggest(1).length, 1);
});
