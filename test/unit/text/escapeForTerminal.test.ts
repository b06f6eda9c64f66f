// Names of a traced program can hold anything: a terminal gets them as text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { comparisonText } from '../../../extension/report/gate/compareText';
import { compareHoldings } from '../../../extension/report/gate/compareHoldings';
import { readSnapshot } from '../../../extension/report/tables/snapshot';
import { renderTable } from '../../../extension/report/tables/table';
import { TerminalTable } from '../../../extension/cli/live/terminalTable';
import { csvChunks } from '../../../extension/exporters/csv';
import type { ExportInput } from '../../../extension/exporters/exportInput';
import { escapeJson, escapeForTerminal, textOf } from '../../../extension/text/escapeForTerminal';
import { bytesOf, sampleInput } from '../exporters/sampleTrace';
import { FakeTrace, makeInfo, makeProcess, makeSite, makeTotals } from '../fakeTrace';

const FORGED = 'TOTAL LIVE: 0 B';
/** Clears the screen, sets the title, begins a line, makes a link, turns the direction of writing. */
const EVIL = `a\x1b[2J\x1b]0;owned\x07\r\n${FORGED}\n\x9b2J\x7f\u2028\u2029\u202e\u2066\x1b]8;;http://x\x1b\\z`;
const COMMANDS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** Every line is text, and none of them is the one that a name brought along. */
function assertInert(text: string): void {
  for (const line of text.split('\n')) {
    assert.doesNotMatch(line, COMMANDS);
    assert.ok(!line.startsWith(FORGED), line);
  }
  assert.match(text, /(?:\\x1b|\uFFFD)\[2J/);
}

const evilSite = makeSite({ id: 1, frames: [{ file: EVIL, line: 3, function: EVIL }], userFrame: 0 });

test('what a terminal would obey becomes visible', () => {
  assert.equal(escapeForTerminal('\x1b[2J\x07\x7f\x9b\n\t'), '\\x1b[2J\\x07\\x7f\\x9b\\x0a\\x09');
  assert.equal(escapeForTerminal('\u202e\u2066\u2028\u2029\u061c'), '\\u202e\\u2066\\u2028\\u2029\\u061c');
  assert.equal(escapeForTerminal('größe 模型 🙂 a\\b'), 'größe 模型 🙂 a\\b');
});

test('whatever the names are: as many lines as were made, and no commands', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), lines => {
      const shown = textOf(lines).split('\n');
      assert.equal(shown.length, lines.length + 1);
      for (const line of shown) assert.doesNotMatch(line, COMMANDS);
    }),
  );
});

test('JSON keeps the exact value, and nothing that a terminal would obey', () => {
  const json = escapeJson(JSON.stringify({ [EVIL]: [EVIL] }, null, 2));
  assert.deepEqual(JSON.parse(json), { [EVIL]: [EVIL] });
  for (const line of json.split('\n')) assert.doesNotMatch(line, COMMANDS);
});

test('the table: files, functions, threads, notes, causes, groups', () => {
  const info = makeInfo({
    events: 3,
    lost: { events: 1, byCause: { [EVIL]: 1 } },
    processes: [
      makeProcess({
        threads: [{ index: 0, tid: 7, name: EVIL }],
        notes: [{ code: 1, text: EVIL }],
      }),
    ],
    totals: [makeTotals({ liveBytes: 1024, liveCount: 1, allocations: 1 })],
  });
  const held = {
    address: 1n,
    bytes: 1024,
    thread: 0,
    process: 0,
    layer: 'tensor',
    site: 1,
    timeNs: 0,
    device: 0,
  } as const;
  const trace = new FakeTrace(info, [held], [evilSite]);
  const lines = renderTable(readSnapshot(trace, { top: 5, groupBy: 'line', groups: 5 }), {
    now: new Date(0),
  });
  assertInert(textOf(lines));

  let drawn = '';
  new TerminalTable({ rows: 80, columns: 400, write: text => void (drawn += text) }).draw(lines);
  // The table's own commands scroll, place the cursor and clear the line.
  const own = /\x1b(?:[78D]|\[\d*(?:;\d+)?[HrAK]|\[2K)/g; // oxlint-disable-line no-control-regex
  assertInert(drawn.replaceAll(own, ''));
});

test('a comparison', () => {
  const places = { cwdA: '/', cwdB: '/', sameRun: true };
  const holding = { frames: evilSite.frames, named: 0, bytes: 5, count: 1 };
  const comparison = compareHoldings([], [holding], places, 10);
  const side = { file: EVIL, atNs: null };
  assertInert(textOf(comparisonText(comparison, 'tensor', { a: side, b: side })));
});

test('exports that are text', async () => {
  const hostile = (): ExportInput => ({ ...sampleInput(), site: () => evilSite });
  assertInert((await bytesOf(csvChunks(hostile()))).toString().replaceAll('\r\n', '\n'));
});
