import assert from 'node:assert/strict';
import fc from 'fast-check';
import { verdictsOf } from '../../../extension/analysis/findings/verdictCache';
import { liveView, type LiveView } from '../../../extension/report/tables/liveView';
import { FakeTrace, makeInfo, makeProcess, makeTotals } from '../fakeTrace';
import { RunTrace, type RunFacts } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const title = { title: 'train.py', pid: 4711, elapsedNs: 1e9 };
const choice = { sort: 'bytes', filter: '', from: 0 } as const;

/** Line 1 grows by a megabyte a step; another comes and goes. */
function trace(facts: RunFacts = {}): RunTrace {
  const run = new StepRun();
  for (let step = 1; step <= 40; step++) {
    run.alloc(1, MB);
    run.pass(2, 8 * MB);
    run.endStep();
  }
  return new RunTrace(run, { totalBytes: 100_000 * MB, ...facts });
}

/** With what was found as often as `findings` says. */
function view(source: FakeTrace | RunTrace, rows: number, columns: number, findings = 1): LiveView {
  const verdicts = verdictsOf(source);
  const all = Array.from({ length: findings }, () => verdicts.findings).flat();
  return liveView(source, { ...verdicts, findings: all }, { ...title, rows, columns, choice });
}
const texts = (shown: LiveView): string[] => shown.lines.map(({ text }) => text);

test('findings as far as there is room, the worst in full; how many there are besides', () => {
  const lines = texts(view(trace(), 24, 80, 9));
  const shown = lines.filter(line => line.startsWith('LEAK: ')).length;
  assert.ok(shown > 1 && shown < 9, lines.join('\n'));
  assert.ok(lines.includes(`... and ${9 - shown} more findings`), lines.join('\n'));
  assert.match(lines[4] ?? '', /^ {2}\S/);
  assert.doesNotMatch(texts(view(trace(), 24, 80)).join('\n'), /more finding/);
  assertSentence(texts(view(trace(), 24, 80, 0)).join('\n'));
});

test('rows that the list leaves blank are the first finding’s: who holds it, and what to do', () => {
  const verdicts = verdictsOf(trace());
  const path = 'trainer.history.of_all_the_outputs_that_were_ever_made_by_anyone[...]';
  const place = { kind: 'container', file: '/src/train.py', line: 7, function: 'keep', length: 40, bound: null };
  const asked = { timeNs: 1e9, pauseMs: 31 };
  const findings = verdicts.findings.map(finding => ({ ...finding, holder: { path, ...place, asked } }));
  const lines = (rows: number): string =>
    texts(liveView(trace(), { ...verdicts, findings }, { ...title, rows, columns: 80, choice })).join('\n');
  assertSentence(lines(12));
  assertSentence(lines(11));
  assertSentence(lines(9));
});

test('no line is longer than the terminal, and there are no more than it has', () => {
  const lost = { events: 12, byCause: { 'disk full': 10, budget: 2 } };
  const sources = [trace(), trace({ lost })];
  const sizes = [fc.integer({ min: 8, max: 60 }), fc.integer({ min: 60, max: 200 })] as const;
  fc.assert(
    fc.property(fc.constantFrom(...sources), fc.nat(9), ...sizes, (source, findings, rows, columns) => {
      const lines = texts(view(source, rows, columns, findings));
      assert.ok(lines.length <= rows, `${lines.length} of ${rows}`);
      for (const line of lines) assert.ok([...line].length <= columns, line);
      assert.ok(
        lines.some(line => line.startsWith('LIVE BY')),
        lines.join('\n'),
      );
    }),
  );
});

test('what is lost is told', () => {
  const lost = { events: 12, byCause: { 'disk full': 12 } };
  assert.match(texts(view(trace({ lost }), 24, 80)).join('\n'), /^DROPPED EVENTS: 12 \(disk full: 12\)/m);
});

test('a bar for each card, of more than eight a count; nothing that has bytes is without a mark', () => {
  const totals = Array.from({ length: 10 }, (_, device) => [
    makeTotals({ device, liveBytes: device * MB, allocations: 1 }),
    makeTotals({ device, layer: 'driver', liveBytes: 2 * device * MB, allocations: 1 }),
  ]).flat();
  const devices = totals.map(({ device }) => ({ index: device, name: 'Fake', totalBytes: 40 * MB }));
  const lines = texts(view(new FakeTrace(makeInfo({ totals, devices }), [], []), 40, 120));
  const bars = lines.filter(line => line.startsWith('gpu_'));
  const seventh = (columns: number): string =>
    texts(view(new FakeTrace(makeInfo({ totals, devices }), [], []), 40, columns)).find(line =>
      line.startsWith('gpu_7'),
    )!;
  assertSentence(seventh(60));
  assertSentence(seventh(40));
  assertSentence(bars[0]);
  assertSentence(bars[1]);
  assertSentence(bars[7]);
  assert.ok(lines.includes('... and 2 more GPUs'));
});

test('a driver that was not seen has no bytes of its own; what does not fit beside the name is left out whole', () => {
  const totals = [makeTotals({ liveBytes: 7 * MB, allocations: 1 })];
  const processes = [makeProcess({ simulated: true })];
  const source = new FakeTrace(makeInfo({ totals, processes }), [], []);
  const lines = (columns: number): string[] => texts(view(source, 24, columns));
  assert.match(lines(80).join('\n'), /^gpu_0 tensors 7 MiB$/m, 'how much the card has is not known');
  assert.match(lines(80)[0] ?? '', / · simulated GPU$/);
  assertSentence(lines(30)[0]);
});

test('a filter that nothing matches says so, and which key clears it', () => {
  const shown = liveView(new FakeTrace(makeInfo({ totals: [makeTotals({})] }), [], []), verdictsOf(trace()), {
    ...title,
    rows: 24,
    columns: 80,
    choice: { ...choice, filter: 'conv >1MB' },
  });
  assertSentence(texts(shown).at(-1));
});
