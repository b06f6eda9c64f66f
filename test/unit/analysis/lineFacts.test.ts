import assert from 'node:assert/strict';
import { t } from '@vscode/l10n';
import {
  asOf,
  fileFilter,
  heatOf,
  hoverLines,
  lineText,
  type LineLeak,
} from '../../../extension/report/lines/lineFacts';
import { sparkSvg } from '../../../extension/editor/sparkSvg';
import type { LineFacts } from '../../../extension/protocol/requests/engineRequests';
import type { Finding } from '../../../extension/protocol/verdicts';
import { paceOf } from '../../../extension/text/pace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const facts: LineFacts = {
  line: 41,
  liveBytes: 20 * MB,
  liveCount: 3,
  peakBytes: 30 * MB,
  allocations: 1200,
  frees: 1197,
  spark: [0, 1, 2],
  name: '/x/train.py:41',
};

const finding = {
  title: 'train.py:50 keeps it, 3.32 MiB per step',
  bytes: 90 * MB,
  count: 30,
  bytesAtStep: 22,
  bytesPerStep: 3.32 * MB,
} as Finding;
const usual = { when: null, isChosen: false };
const leak: LineLeak = { finding, shownIn: null, line: 41, bytesPerStep: MB, fixed: false };

test('a line has what is alive, and its peak when nothing is alive', () => {
  assert.equal(lineText(facts, null, usual), '20 MiB');
  assert.equal(lineText({ ...facts, liveBytes: 0 }, null, usual), 'peak 30 MiB');
  assert.equal(lineText({ ...facts, liveBytes: 0, peakBytes: 0 }, null, usual), '', 'its only allocation failed');
});

test('the line of a leak has the figures of its card, another line its part of them', () => {
  const [rate] = paceOf(finding, t);
  const shown = { ...leak, shownIn: '/x/train.py' };
  assert.equal(lineText(facts, shown, usual), `${rate} · leak holds 90 MiB (step 22)`);
  const held = { ...finding, holder: { line: 41 } } as Finding;
  assert.equal(
    lineText(facts, { ...shown, finding: held }, usual),
    `${rate} · holds 90 MiB (step 22)`,
    'other lines allocate it',
  );
  const elsewhere = { ...finding, holder: { file: '/x/metrics.py', line: 5 } } as Finding;
  assert.equal(
    lineText(facts, { ...leak, finding: elsewhere, bytesPerStep: 0 }, usual),
    '20 MiB · held at metrics.py:5',
  );
  assertSentence(lineText(facts, leak, usual));
  assertSentence(lineText(facts, { ...leak, fixed: true }, usual));
  assert.equal(lineText(facts, { ...leak, bytesPerStep: finding.bytesPerStep }, usual), `${rate} · 20 MiB`);
});

test('where a moment is shown instead of the end, the hover says which', () => {
  assertSentence(hoverLines(facts, null, { when: 'at the end of step 80', isChosen: false })[0]);
});

test('at a chosen moment the line of a leak has its own bytes of that moment, not those of the card', () => {
  const [rate] = paceOf(finding, t);
  const [shown, chosen] = [
    { ...leak, shownIn: '/x/train.py' },
    { when: 'at the end of step 3', isChosen: true },
  ];
  assert.equal(lineText(facts, shown, chosen), `${rate} · 20 MiB`);
  assert.equal(lineText({ ...facts, liveBytes: 0, peakBytes: 0 }, shown, chosen), rate, 'it only keeps it');
  const lines = hoverLines(facts, shown, chosen);
  assert.ok(lines[0]?.includes(chosen.when));
  assert.ok(!lines.join().includes('90 MiB'));
});

test('a hover has blocks, peak and counts, and the leak', () => {
  assertSentence(hoverLines(facts, leak, usual).join('\n'));
  const [, , whole] = hoverLines(facts, { ...leak, shownIn: '/x/train.py' }, usual);
  assertSentence(whole);
  assert.ok(!hoverLines(facts, leak, usual, true).includes(finding.title), 'its problem has it');
  const keeps = { ...facts, liveBytes: 0, liveCount: 0, allocations: 0 };
  assert.equal(hoverLines(keeps, { ...leak, shownIn: '/x/train.py' }, usual).length, 2, 'it only keeps the leak');
  const failed = { ...leak, shownIn: '/x/train.py', finding: { ...finding, bytesAtStep: null } };
  assertSentence(hoverLines(facts, failed, { ...usual, when: 'at the failed allocation' })[2]);
});

test('at a moment lines hold what they held then, and those that came later nothing', () => {
  const [then, later] = [
    { ...facts, liveBytes: 7, liveCount: 1, spark: [7], peakBytes: 8 },
    { ...facts, line: 50 },
  ];
  assert.deepEqual(asOf([then], [facts, later]), [
    { ...facts, liveBytes: 7, liveCount: 1, spark: [7] },
    { ...later, liveBytes: 0, liveCount: 0 },
  ]);
});

test('heat falls with each power of four below the biggest line', () => {
  assert.deepEqual(
    [1024, 512, 256, 64, 1, 0].map(bytes => heatOf(bytes, 1024, 5)),
    [4, 4, 3, 2, 0, 0],
  );
});

test('a spark line is a picture in itself', () => {
  const svg = Buffer.from(sparkSvg([0, 5, 10], '#f00').split(',')[1] ?? '', 'base64').toString();
  assert.match(svg, /<polyline points="1\.0,26\.0 80\.0,14\.0 159\.0,2\.0"/);
});

test('a file is looked for by words that no filter takes for a bound', () => {
  assert.equal(fileFilter('/home/user/my project/train.py'), 'train.py');
  assert.equal(fileFilter('/x/my model.py'), 'my model.py');
  assert.equal(fileFilter('/x/net >10MB age>5 <b.py'), 'net');
});
