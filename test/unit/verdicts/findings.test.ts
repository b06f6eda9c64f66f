// Findings: one for each cause, in words and numbers.
import assert from 'node:assert/strict';
import { NO_OWNER } from '../../../extension/analysis/findings/kinds/holderAnswers';
import { mergeAcrossProcesses } from '../../../extension/analysis/findings/acrossProcesses';
import { judgeTrace, sureLeaks } from '../../../extension/analysis/findings/judgeTrace';
import { timeUntilFull } from '../../../extension/text/pace';
import { STEP_PAUSED, type Frame, type Site, type StepAxis } from '../../../extension/protocol/trace';
import type { Finding, Verdicts } from '../../../extension/protocol/verdicts';
import { t } from '@vscode/l10n';
import { addresses, blockFacts, findingsOf, only, playing } from '../runs/findingRuns';
import { RunTrace, SCRIPT } from '../runs/runTrace';
import { type Block, StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const KB = 1024;
const MB = 1024 * KB;
const GB = 1024 * MB;

test('a graph of 312 sites on four lines is one finding, at the line that keeps most', () => {
  const lines: Record<number, number> = {};
  for (let site = 1; site <= 312; site++) lines[site] = 9 + (site % 4);
  const run = playing(42, (step, run) => {
    if (step < 12) return;
    for (let site = 1; site <= 312; site++) run.alloc(site, lines[site] === 10 ? 64 * KB : 8 * KB);
  });
  const finding = only(findingsOf(run, { lines }));
  assertSentence(finding.title);
  assert.deepEqual(
    [finding.verdict, finding.class, finding.place?.line, finding.sites.length],
    ['leak', 'outputs', 10, 312],
  );
  assert.deepEqual([finding.places.map(place => place.line).sort(), finding.sinceStep], [[10, 11, 12, 9].sort(), 12]);
  assert.equal(finding.bytesPerStep, 78 * (64 + 3 * 8) * KB);
});

test('growth on both sides of a pause is counted as a whole, and its rate from the steps that are whole', () => {
  const run = playing(60, (step, run) => {
    for (let i = 0; i < (step === 30 ? 2 : 1); i++) run.alloc(1, MB); // a pause is a part of two rounds
  });
  run.flags.set(30, STEP_PAUSED);
  const leak = only(findingsOf(run));
  assert.deepEqual([leak.sinceStep, leak.count, leak.bytes, leak.bytesPerStep], [1, 61, 61 * MB, MB]);
});

test('the rate of what every step keeps is what a step keeps, wherever it begins and however many steps are merged', () => {
  for (const steps of [60, 129, 150, 151, 170, 200, 300, 1000])
    for (const since of [1, 2, 3, 4]) {
      const run = playing(steps, (step, made) => step >= since && made.alloc(1, 100 * KB));
      assert.equal(only(findingsOf(run)).bytesPerStep, 100 * KB, `${steps} steps, from ${since} on`);
    }
});

test('what half of the steps keep does not stay every step, also where it comes several times in a row', () => {
  const run = playing(600, (step, made) => step % 6 < 3 && made.alloc(1, 4 * MB));
  const leak = only(findingsOf(run));
  assert.match(leak.headline, / 1 more tensor alive about every 2 steps$/);
  assertSentence(leak.headline);
  assert.doesNotMatch(JSON.stringify(leak), /every step/);
});

test('growth that began behind a pause is counted from there', () => {
  const run = playing(60, (step, run) => (step > 35 || step === 3) && run.alloc(1, MB));
  run.flags.set(30, STEP_PAUSED);
  const leak = only(findingsOf(run));
  assert.deepEqual([leak.sinceStep, leak.count], [36, 25]);
});

test('a sum of several lines is put on none of them: the line with most has its own figure', () => {
  const run = playing(30, (_, run) => [run.alloc(1, MB), run.alloc(2, 768 * KB), run.alloc(3, 512 * KB)]);
  const text = JSON.stringify({
    groups: [1, 2, 3].map(site => {
      return { path: 'kept', kind: 'global', file: SCRIPT, line: 20, addresses: addresses(run.blocks(site)) };
    }),
  });
  const blocks = blockFacts([1, 2, 3].flatMap(site => run.blocks(site)));
  const finding = only(findingsOf(run, { answers: [{ text, blocks }] }));
  assertSentence(finding.detail);
  assertSentence(finding.headline);
});

test('survivors of one rhythm are one finding, whichever threads made them; those that began 20 steps later are another', () => {
  const run = new StepRun();
  run.site(2, { thread: 1, lineSource: 'forward' });
  playing(60, (step, run) => [run.alloc(1, 2 * MB), run.alloc(2, MB), step > 20 && run.alloc(3, 4 * MB)], run);
  assert.deepEqual(
    findingsOf(run).map(finding => [finding.sites, finding.sinceStep]),
    [
      [[3], 21],
      [[1, 2], 1],
    ],
  );
});

test('one tensor that grows is a finding of its own', () => {
  let whole: Block | undefined;
  const run = playing(40, (step, run) => {
    run.alloc(2, MB);
    if (step % 3 !== 0) return;
    const before = whole;
    whole = run.alloc(1, (before?.bytes ?? 0) + 3 * MB);
    run.free(before);
  });
  const source = { 1: '  preds = logits if preds is None else torch.cat([preds, logits])' };
  const [size, blocks] = findingsOf(run, {}, source)
    .sort((a, b) => (a.class ?? '').localeCompare(b.class ?? ''))
    .reverse();
  assertSentence(size?.title ?? '');
  assertSentence(size?.suggestion ?? '');
  assert.equal(blocks?.class, 'outputs');
  run.free(whole);
  whole = run.alloc(1, 90 * MB);
  const failed = findingsOf(run, {}, source).find(finding => finding.class === 'size');
  assert.equal(failed?.bytes, 90 * MB, 'what the step that failed had made, as in the table');
  const goesOn = findingsOf(run, { ended: false }, source).find(finding => finding.class === 'size');
  assert.equal(goesOn?.bytes, 39 * MB);
});

test('gradients, backward passes, pinned and driver memory have their own words', () => {
  const findingOf = (facts: Parameters<StepRun['site']>[1]) => {
    const run = new StepRun();
    run.site(1, facts);
    return only(findingsOf(playing(40, (_, run) => run.alloc(1, MB), run)));
  };
  const gradients = findingOf({ category: 'gradient' });
  assert.equal(gradients.class, 'gradients');
  assertSentence(gradients.title);
  assert.equal(findingOf({ lineSource: 'forward', thread: 0 }).class, 'backward');
  assertSentence(findingOf({ lineSource: 'backward-call' }).title);
  assertSentence(findingOf({ layer: 'host', device: -1 }).title);
  assertSentence(findingOf({ layer: 'driver' }).title);
});

test('a line that copies gradients keeps gradients', () => {
  const run = playing(30, (_, run) => run.alloc(1, MB));
  const source = { 1: '    history.append([p.grad.clone() for p in model.parameters()])' };
  assert.equal(only(findingsOf(run, {}, source)).class, 'gradients');
  const norms = { 1: '    norms.append(torch.stack([p.grad.norm() for p in model.parameters()]))' };
  assert.equal(only(findingsOf(run, {}, norms)).class, 'outputs');
});

test('driver memory that a tensor’s line takes for the tensor itself is no second finding', () => {
  const run = new StepRun();
  run.site(2, { layer: 'driver' });
  playing(30, (_, run) => [run.alloc(1, MB), run.alloc(2, 2 * MB)], run);
  assert.equal(only(findingsOf(run, { lines: { 1: 7, 2: 7 } })).layer, 'tensor');
});

test('of lines that keep as much, the one that was called last is the line to look at', () => {
  const run = playing(30, (_, run) => [run.alloc(1, MB), run.alloc(2, MB)]);
  const inner = { file: SCRIPT, line: 11, function: 'fail' };
  const [outer, caller] = [16, 18].map(line => ({ file: SCRIPT, line, function: '<module>' }));
  const frames = { 1: [outer as Frame], 2: [inner, caller as Frame] };
  const site = (id: number) => new RunTrace(run, { frames }).site(id);
  assert.equal(site(2)?.frames.length, 2);
  const source = new RunTrace(run, { frames });
  source.site = id => ({ ...(site(id) as Site), userFrame: 0 });
  const finding = only(judgeTrace(source).findings);
  assert.deepEqual(
    finding.places.map(place => place.line),
    [11, 16],
  );
  assert.deepEqual(finding.sites, [2, 1]);
});

test('when the device will be full, counting what is free and what the cache holds unused', () => {
  const run = playing(50, (_, run) => run.alloc(1, 100 * MB));
  const ledger = { tensor: () => 5 * GB, reserved: () => 6 * GB, driver: () => 6.5 * GB, used: () => 7 * GB };
  const finding = only(findingsOf(run, { ledger, totalBytes: 16 * GB }));
  assert.equal(finding.fullAtStep, 50 + Math.floor((10 * GB) / (100 * MB)));
  assert.equal(finding.fullInSteps, Math.floor((10 * GB) / (100 * MB)));
  assertSentence(finding.evidence.join('\n'));
  const within = findingsOf(run, { ledger: { ...ledger, tensorMax: () => 5.5 * GB }, totalBytes: 16 * GB });
  assert.equal(
    only(within).fullInSteps,
    Math.floor((9.5 * GB) / (100 * MB)),
    'what a step needs for a while is no room',
  );
  assertSentence(only(within).evidence[2]);
  const old = { ...ledger, used: () => 4 * GB, process: () => 3 * GB };
  assert.equal(
    only(findingsOf(run, { ledger: old, totalBytes: 16 * GB })).fullInSteps,
    Math.floor((16 - 6.5 - 1 + 1) * 10.24),
    'an old reading of the card: what the process has now, and what others had then',
  );
  assert.equal(only(findingsOf(run)).fullAtStep, null, 'nothing is known of the device');
});

test('a leak that no job lives long enough to see is told as that, and fails no run unasked', () => {
  const keeping = (bytes: number): Verdicts => {
    const run = playing(50, (_, run) => run.alloc(1, bytes));
    const ledger = { tensor: () => 5 * GB, reserved: () => 6 * GB, driver: () => 7 * GB, used: () => 7 * GB };
    return judgeTrace(new RunTrace(run, { ledger, totalBytes: 140 * GB }));
  };
  const [slow, quick] = [keeping(256), keeping(256 * 1024)];
  const found = only(slow.findings);
  assert.equal(found.verdict, 'slow');
  assert.ok((found.fullInSeconds ?? 0) > 365 * 86_400);
  assert.equal(slow.sites.get(found.sites[0] ?? -1)?.state, 'slow');
  assert.deepEqual([sureLeaks(slow.findings).length, sureLeaks(slow.findings, true).length], [0, 1]);
  assert.equal(only(quick.findings).verdict, 'leak');
  assert.equal(Math.round((only(quick.findings).fullInSeconds ?? 0) / 86_400), 1);
});

test('how long it takes until the device is full, in words', () => {
  const times = [59, 61, 40 * 60, 3 * 3_600, 9 * 86_400, 400 * 86_400].map(seconds => timeUntilFull(seconds, t));
  assert.equal(times[0], null);
  assertSentence(times.slice(1).join('\n'));
});

test('the free side: who freed its blocks before, and until when', () => {
  const run = playing(60, (step, run) => (step > 30 ? run.alloc(1, MB) : run.pass(1, MB)));
  const frames = [{ file: SCRIPT, line: 44, function: 'step' }];
  const finding = only(findingsOf(run, { freeLines: { 1: [{ count: 9, lastStep: 30, frames, userFrame: 0 }] } }));
  assertSentence(finding.evidence.join('\n'));
});

test('what was ruled out, with numbers', () => {
  class Collected extends StepRun {
    override axis(points: number): StepAxis {
      const axis = super.axis(points);
      return { ...axis, fullCollections: axis.fullCollections.map((_, i) => (i % 10 === 0 ? 1 : 0)) };
    }
  }
  const run = playing(40, (_, run) => run.alloc(1, MB), new Collected());
  const ledger = { tensor: (step: number) => step * MB, reserved: (step: number) => step * MB };
  assertSentence(only(findingsOf(run, { ledger })).ruledOut.join('\n'));
});

test('a young finding without a holder says that a cache would look the same', () => {
  const young = only(findingsOf(playing(30, (_, run) => run.alloc(1, MB))));
  const older = only(findingsOf(playing(90, (_, run) => run.alloc(1, MB))));
  const doubts = young.evidence.filter(text => !older.evidence.includes(text));
  assertSentence(doubts.join('\n'));
  assertSentence(older.evidence.join('\n'));
});

test('much memory that only the collector frees, and single huge allocations, are findings and no leaks', () => {
  let waiting: Block[] = [];
  const run = playing(70, (step, run) => {
    waiting.push(run.alloc(1, 4 * MB));
    if (step % 30 === 0) waiting = waiting.splice(0).filter(block => run.free(block, true));
    run.pass(2, (step === 40 ? 640 : 8) * MB);
  });
  const findings = findingsOf(run);
  assert.deepEqual(
    findings.map(finding => finding.verdict),
    ['cycle', 'anomaly'],
  );
  assertSentence(findings[0]?.title ?? '');
  assertSentence(findings[1]?.title);
  assert.deepEqual(sureLeaks(findings), []);
});

test('a run fails by a leak that is sure enough, and by nothing else', () => {
  const kept = (steps: number, every: number): Finding[] =>
    findingsOf(playing(steps, (step, run) => step % every === 0 && run.alloc(1, MB)));
  assert.equal(sureLeaks(kept(30, 1)).length, 1);
  assert.equal(kept(47, 10).length, 0, 'four rises are too few');
  assert.equal(sureLeaks(kept(90, 10)).length, 1);
});

test('the same leak in the ranks of a job is one finding, told by the rank whose device is full first', () => {
  const finding = only(findingsOf(playing(30, (_, run) => run.alloc(1, MB))));
  const rank = (process: number, part: Partial<Finding>): Finding => ({ ...finding, process, ...part });
  const ranks = [
    rank(0, {}),
    rank(1, { bytesPerStep: 2 * MB, sites: [4] }),
    rank(2, { sites: [7], fullAtStep: 90, fullInSteps: 60 }),
  ];
  const [merged, ...others] = mergeAcrossProcesses(ranks);
  assert.deepEqual(
    [others.length, merged?.process, merged?.sites, merged?.fullAtStep, merged?.fullInSteps],
    [0, 2, [7, 1, 4], 90, 60],
  );
  assert.match(merged?.title ?? '', /, in 3 processes$/);
  const [fastest] = mergeAcrossProcesses(ranks.map(each => ({ ...each, fullInSteps: null })));
  assert.deepEqual([fastest?.process, fastest?.bytesPerStep], [1, 2 * MB]);
  assert.equal(mergeAcrossProcesses([rank(0, {}), rank(1, { class: 'size' })]).length, 2);
  const holder: Finding['holder'] = { ...NO_OWNER, path: 'kept[...]', kind: 'global' };
  const withoutHolder = { bytesPerStep: 2 * MB, verdict: 'rose' } as const;
  const cause = only(mergeAcrossProcesses([rank(0, { holder }), rank(1, withoutHolder)]));
  assert.deepEqual([cause.processes, cause.verdict, cause.holder?.path], [2, 'leak', 'kept[...]']);
  assert.equal(mergeAcrossProcesses([rank(0, {}), rank(1, withoutHolder)]).length, 2, 'nobody was asked');
  assert.equal(mergeAcrossProcesses([rank(0, {}), rank(0, {})]).length, 2, 'two of one process');
});
