// How far judging is, in words; verdicts of rows; lines that are no part of a finding.
import assert from 'node:assert/strict';
import { equallySpaced, findingSpark } from '../../../extension/analysis/findings/findingSpark';
import { rowVerdicts } from '../../../extension/analysis/findings/rowVerdicts';
import { readSnapshot, type Snapshot } from '../../../extension/report/tables/snapshot';
import { renderTable } from '../../../extension/report/tables/table';
import { overallVerdict } from '../../../extension/analysis/sites/overallVerdict';
import { judgeInParts, judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import { CELL } from '../../../extension/protocol/notes';
import type { OverallVerdict } from '../../../extension/protocol/requests/verdictRequests';
import type { TraceInfo } from '../../../extension/protocol/trace';
import type { Verdicts } from '../../../extension/protocol/verdicts';
import { RunTrace, type RunFacts } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;

/** Site 1 keeps 2 MB of each step (where `leaks`), site 2 nothing; sites 3 and 4 stand at one line, of which 4 leaks. */
function trace(steps: number, leaks: boolean, facts: RunFacts = {}): RunTrace {
  const run = new StepRun();
  for (let step = 1; step <= steps; step++) {
    if (leaks) run.alloc(1, 2 * MB);
    if (leaks) run.alloc(4, MB);
    run.pass(2, 8 * MB);
    run.pass(3, MB);
    run.endStep();
  }
  return new RunTrace(run, { totalBytes: 1000 * MB, lines: { 3: 30, 4: 30 }, ...facts });
}
const textOf = (source: RunTrace, info: Partial<TraceInfo> = {}): string => {
  const result = overallVerdict({ ...source.info(), ...info }, judgeTrace(source));
  return `${result.overall}: ${result.sentence}`;
};
/** A sentence about this state. */
function assertSaid(state: OverallVerdict, text: string, why?: string): void {
  assert.equal(text.split(':')[0], state);
  assertSentence(text, why);
}
const tableOf = (snapshot: Snapshot): string => renderTable(snapshot, { now: new Date(0) }).join('\n');
/** The line of a table that says of an ended run that nothing leaks. */
function cleanLine(): string {
  const source = trace(30, false);
  const info = { ...source.info(), live: false };
  const lines = tableOf({ ...readSnapshot(source, { top: 0, groupBy: 'line', groups: 1 }), info }).split('\n');
  const line = lines.at(-2) ?? '';
  assert.match(line, /^NO LEAK/);
  return line;
}

test('too few steps: how many more are waited for, or that none will come', () => {
  assertSentence(textOf(trace(0, false)));
  assertSentence(textOf(trace(4, false)));
  assertSentence(textOf(trace(8, false)));
  assertSaid('waiting', textOf(trace(4, false), { live: false }));
});

test('time instead of steps: that it takes more of it, and no guess how much', () => {
  const run = new StepRun();
  run.source = 'time';
  for (let slice = 0; slice < 60; slice++) {
    run.pass(1, MB);
    run.endStep();
  }
  assertSentence(textOf(new RunTrace(run)));
});

test('lost events: unknown, and what it takes', () => {
  const text = textOf(trace(30, true, { lost: { events: 10_000, byCause: { budget: 10_000 } } }));
  assertSaid('lost', text);
});

test('a file that is cut short: no leak is not that nothing leaks', () => {
  const without = (events: number) => trace(30, false, { lost: { events, byCause: { 'cut short': events } } });
  assertSentence(textOf(without(10_000), { live: false }));
  assertSentence(textOf(without(2), { live: false }));
  const source = without(2);
  const info = { ...source.info(), live: false };
  const snapshot = { ...readSnapshot(source, { top: 0, groupBy: 'line', groups: 1 }), info };
  assert.ok(!tableOf(snapshot).includes(cleanLine()));
});

test('stacks that need more steps: no leak so far is not that nothing leaks', () => {
  const source = (late: number): RunTrace => {
    const run = new StepRun();
    for (let step = 1; step <= 12; step++) {
      for (const site of [1, 2]) run.pass(site, 8 * MB);
      for (let site = 3; step > 10 && site < 3 + late; site++) run.alloc(site, 2 * MB);
      run.endStep();
    }
    return new RunTrace(run, { totalBytes: 1000 * MB });
  };
  assertSentence(textOf(source(0)));
  assertSentence(textOf(source(1)));
  assertSentence(textOf(source(2)));
  assertSentence(textOf(source(2), { live: false }));
  const pauses: TraceInfo['pauses'] = [{ process: 0, kind: 'recording', beginNs: 1, endNs: 2 }];
  assertSentence(textOf(source(2), { live: false, pauses }), 'why they are few');
  assertSentence(textOf(source(0), { live: false, pauses }));
  assert.equal(textOf(source(2), { pauses }), textOf(source(2)), 'more steps come');
});

test('steps that are not judged yet are counted as the page counts them', () => {
  const source = trace(9, false);
  const verdicts = judgeTrace(trace(2, false, {}));
  const early = { ...verdicts, steps: { count: 3, source: 'time' as const } };
  assertSentence(overallVerdict(source.info(), early).sentence, 'no longer: no training steps are known');
  assertSaid('clean', textOf(trace(30, false)), 'it may have gone on since');
  const [main] = trace(5, false).info().steps;
  const worker = main && { ...main, process: 1, source: 'time' as const, count: 200 };
  assert.match(
    textOf(trace(5, false), { steps: [worker, main].filter(one => one !== undefined) }),
    /^waiting: Needs 4/,
  );
});

test('few, heavy rounds: the line that rises is named, and no leak is not that nothing leaks', () => {
  const source = (bytes: number, ended: boolean): RunTrace => {
    const run = new StepRun();
    for (let step = 1; step <= 90; step++) {
      run.pass(1, 8 * MB);
      for (let output = 0; step % 30 === 0 && output < 40; output++) run.alloc(2, bytes);
      run.endStep();
    }
    for (let step = 0; step < 4; step++) {
      run.pass(1, 8 * MB);
      run.endStep();
    }
    return new RunTrace(run, { totalBytes: 10_000 * MB, lines: { 2: 30 }, ended });
  };
  assertSentence(textOf(source(MB, true), { live: false }));
  assertSaid('rising', textOf(source(MB, false)));
  assert.match(textOf(source(MB / 1024, true), { live: false }), /^clean: /);
});

test('what piled up behind the last step is no proof of a leak, and none that nothing leaks', () => {
  const source = trace(30, false);
  const verdicts = judgeTrace(source);
  assert.equal(verdicts.after, null);
  const after = { process: 0, bytes: 12 * MB, line: 'train.py:16 test', lineBytes: 9 * MB };
  const info = { ...source.info(), live: false };
  const result = overallVerdict(info, { ...verdicts, after });
  assert.equal(result.overall, 'after');
  assertSentence(result.sentence);
  const snapshot = { ...readSnapshot(source, { top: 0, groupBy: 'line', groups: 1 }, { ...verdicts, after }), info };
  const table = tableOf(snapshot);
  assert.ok(table.includes(result.sentence) && !table.includes(cleanLine()), table);
});

/** Rounds of 100 ms, of each of which 2 MB stay. */
function loop(rounds: number, facts: RunFacts, source: 'periodic' | 'optimizer' = 'periodic'): RunTrace {
  const run = new StepRun();
  run.source = source;
  for (let round = 1; round <= rounds; round++) {
    run.alloc(1, 2 * MB);
    run.pass(2, 8 * MB);
    run.endStep();
  }
  return new RunTrace(run, { totalBytes: 1000 * MB, ...facts });
}

test('growth in a short loop is over once the program has gone on without it for as long again', () => {
  const of = (steps: number, idleNs: number, source: 'periodic' | 'optimizer' = 'periodic'): string =>
    textOf(loop(steps, { idleNs }, source));
  assert.equal(of(30, 1e8), 'found: 1 other finding', 'its end is that of the loop');
  assertSentence(of(30, 3e9));
  assertSaid('rising', of(30, 1e9));
  assert.equal(of(30, 3e9, 'optimizer'), 'found: 1 leak', 'training steps are no set-up');
  assert.equal(of(100, 20e9), 'found: 1 leak', 'a server that nobody calls is none either');
});

test('few rounds in which one line alone allocates, or a graph is captured, may be a set-up', () => {
  const graphs = {
    process: 0,
    device: 0,
    kind: 'graph',
    id: '0:1',
    label: 'graphs[...]',
    segments: 4,
    site: 1,
  } as const;
  const captured = (makers: number): RunFacts => ({
    pools: [{ ...graphs, makers, reservedBytes: 30 * MB, liveBytes: 20 * MB }],
  });
  assertSaid('rising', textOf(loop(30, { alone: true })));
  assert.equal(textOf(loop(100, { alone: true })), 'found: 1 leak', 'nobody loads for so long');
  assertSaid('rising', textOf(loop(30, captured(30))));
  assert.equal(textOf(loop(30, captured(3))), 'found: 1 other finding', 'most rounds captured none');
  const early = (rounds: number, ended: boolean): string => textOf(loop(30, { ended, poolsNs: rounds * 1e8 }));
  assertSaid('rising', early(2, false));
  assert.equal(early(20, false), 'found: 1 other finding', 'none of 20 rounds captured one');
  assert.equal(early(2, true), 'found: 1 other finding', 'no list will come');
  const half = textOf(loop(30, { ...captured(10), ended: false, poolsNs: 15e8 }));
  assertSaid('rising', half, 'of those that are known');
  assert.equal(textOf(loop(30, captured(30), 'optimizer')), 'found: 1 leak', 'training steps are no set-up');
});

test('nothing leaks, and what leaks', () => {
  assertSentence(textOf(trace(30, false)));
  assert.equal(textOf(trace(30, true)), 'found: 1 leak');
});

test('a row has the worst verdict of its sites', () => {
  const source = trace(30, true);
  const verdicts = judgeTrace(source);
  const by = (groupBy: 'site' | 'line'): unknown =>
    rowVerdicts(source, verdicts, [1, 2, 3, 99], groupBy).map(row => [row.site, row.state, row.bytesPerStep]);
  assert.deepEqual(by('site'), [
    [1, 'growing', 2 * MB],
    [2, 'transient', 0],
    [3, 'transient', 0],
  ]);
  assert.deepEqual(by('line'), [
    [1, 'growing', 2 * MB],
    [2, 'transient', 0],
    [3, 'growing', MB],
  ]);
});

test('a finding’s spark line is the sum of its lines', () => {
  const source = trace(30, true);
  const [finding] = judgeTrace(source).findings;
  const spark = findingSpark(source, finding!);
  assert.equal(spark.at(-1), 90 * MB);
  assert.ok(spark.length <= 16 && spark.every((bytes, i) => i === 0 || bytes >= spark[i - 1]!));
});

test('a leak of the same bytes in each step is a straight line, however many steps a point stands for', () => {
  const steps = Float64Array.from([64, 128, 192, 224, 240, 248, 252, 253, 254, 255]);
  const spark = equallySpaced(
    steps,
    Array.from(steps, step => step * MB),
  );
  assert.equal(spark.length, 16);
  const rise = (spark.at(-1)! - spark[0]!) / 15;
  spark.forEach((bytes, i) => assert.ok(Math.abs(bytes - 64 * MB - i * rise) < 1, `${i}: ${bytes}`));
  assert.deepEqual(equallySpaced(Float64Array.from([1, 2, 3]), [5, 6, 9]), [5, 6, 9]);
});

test('growth that is next to nothing beside the fastest has one line, without advice', () => {
  const run = new StepRun();
  run.site(2, { layer: 'driver', library: '/lib/libown.so' });
  for (let step = 1; step <= 60; step++) {
    run.alloc(1, 3 * MB);
    run.alloc(2, 16 << 10);
    run.endStep();
  }
  const snapshot = readSnapshot(new RunTrace(run, { lines: { 1: 10, 2: 20 } }), { top: 0, groupBy: 'line', groups: 0 });
  const table = renderTable(snapshot, { now: new Date(0) });
  assert.equal(snapshot.verdicts.findings.length, 2);
  const [first, second] = [10, 20].map(line => table.findIndex(text => text.includes(`train.py:${line}`)));
  assert.ok(second! - first! > 1 && table[second! + 1]?.startsWith('60 steps'), table.join('\n'));
});

test('what rose by more than all that was found, and could not be judged, is named beside it', () => {
  const of = (bytes: number): string => {
    const run = new StepRun();
    run.site(2, { category: 'optimizer' });
    for (let step = 1; step <= 60; step++) {
      run.alloc(1, MB);
      if (step > 50) run.alloc(2, bytes);
      run.endStep();
    }
    const source = new RunTrace(run, { lines: { 1: 10, 2: 20 } });
    source.info().live = false;
    return renderTable(readSnapshot(source, { top: 0, groupBy: 'line', groups: 0 }), { now: new Date(0) }).join('\n');
  };
  assert.match(of(20 * MB), /^LEAK: train\.py:10 .*\n(.*\n)+NOT JUDGED: .*train\.py:20 .* 200 MiB/m);
  assertSentence(of(20 * MB));
  assert.doesNotMatch(of(MB), /NOT JUDGED/);
});

test('judged in parts it is what it is at once', () => {
  const source = trace(30, true);
  const parts = judgeInParts(source, () => null);
  let count = 0;
  let part = parts.next();
  for (; !part.done; part = parts.next()) count++;
  assert.ok(count >= 1);
  assert.deepEqual(part.value, judgeTrace(source));
});

test('two traces judged by turns keep their own names of cells, where both call theirs alike', () => {
  const file = '/tmp/ipykernel_7/5.py';
  const inCell = (number: number): RunTrace => {
    const source = trace(30, true, { frames: { 1: [{ file, line: 3, function: '<module>' }] } });
    const info = source.info();
    const notes = [{ code: CELL, text: `1.000 2.000 ${number} ${file}` }];
    source.info = () => ({ ...info, processes: info.processes.map(each => ({ ...each, notes })) });
    return source;
  };
  const sources = [inCell(3), inCell(8)];
  const alone = sources.map(source => judgeTrace(source).findings.map(({ headline }) => headline));
  assert.match(alone[0]?.[0] ?? '', /In \[3\]: 3/);
  const judging = sources.map(source => judgeInParts(source, () => null));
  const parts = judging.map(parts => parts.next());
  for (let turn = 0; parts.some(({ done }) => !done); turn = 1 - turn)
    if (!parts[turn]?.done) parts[turn] = judging[turn]!.next();
  const byTurns = parts.map(({ value }) => (value as Verdicts).findings.map(({ headline }) => headline));
  assert.deepEqual(byTurns, alone);
});
