// A run beside the one before it: what became of its leaks, and how sure that is.
import assert from 'node:assert/strict';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import type { RunComparison } from '../../../extension/protocol/requests/compareRequests';
import type { Finding } from '../../../extension/protocol/verdicts';
import type { Frame, TraceInfo } from '../../../extension/protocol/trace';
import { compareRuns } from '../../../extension/report/gate/compareRuns';
import { type RunFacts, RunTrace, SCRIPT } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { makeProcess, makeTotals } from '../fakeTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const GB = 1 << 30;

interface Run extends RunFacts {
  steps?: number;
  /** Kept of each step by site 1, or of every so many. */
  keeps?: number;
  every?: number;
  peakBytes?: number;
  /** Whether site 1 allocates. */
  allocates?: boolean;
  more?: (run: StepRun) => unknown;
  info?: Partial<TraceInfo>;
}

/** Site 1 keeps memory, or gives it back; site 2 gives it back. */
function run({ steps = 60, keeps = 0, every = 1, peakBytes = GB, allocates = true, more, info, ...facts }: Run) {
  const made = new StepRun();
  for (let step = 1; step <= steps; step++) {
    if (keeps > 0 && step % every === 0) made.alloc(1, keeps);
    else if (allocates) made.pass(1, 2 * MB);
    made.pass(2, 8 * MB);
    more?.(made);
    made.endStep();
  }
  const source = new RunTrace(made, { totalBytes: 1000 * MB, lines: { 1: 38, 2: 41 }, ...facts });
  const own = source.info();
  source.info = () => ({ ...own, live: false, totals: [makeTotals({ allocations: 1, peakBytes })], ...info });
  const found = source.site.bind(source);
  source.site = id => {
    const site = found(id);
    return site && { ...site, userFrame: 0 };
  };
  return { source, verdicts: judgeTrace(source) };
}
const LEAKS = { keeps: 2 * MB, peakBytes: 1.36 * GB };

function compared(before: Run, now: Run): RunComparison {
  const found = compareRuns(run(before), run(now));
  assert.ok(found !== null);
  assertSentence(found.sentences.join('\n'));
  return found;
}

test('a leak that is mended no longer grows, and the peak is lower', () => {
  assert.equal(compared(LEAKS, { peakBytes: 0.41 * GB }).verdict, 'good');
});

test('one that is still there says how fast, beside how fast it was', () => {
  assert.equal(compared(LEAKS, { keeps: MB }).verdict, 'bad');
});

test('what still grows says so where it may be intended, too', () => {
  const now = run({ keeps: MB });
  for (const [site, verdict] of now.verdicts.sites)
    if (verdict.state === 'growing') now.verdicts.sites.set(site, { ...verdict, state: 'rose' });
  const found = compareRuns(run(LEAKS), now);
  assert.equal(found?.verdict, 'unknown');
  assert.match(found.sentences[0] ?? '', /\+1 MiB .*\+2 MiB/);
});

test('what was only suspected before and is a leak now is not new', () => {
  const before = run(LEAKS);
  before.verdicts.findings = before.verdicts.findings.map(one => ({ ...one, verdict: 'rose' }));
  assert.match(compareRuns(before, run(LEAKS))?.sentences[0] ?? '', /grows as before/);
  const gone = compareRuns(before, run({ peakBytes: 0.5 * GB }));
  assert.doesNotMatch(gone?.sentences.join() ?? '', /grows/, 'a suspicion that is gone is no result');
});

test('a line that moved is the same one, and has its new number', () => {
  const lines = { 1: 48, 2: 51 };
  assert.match(compared(LEAKS, { lines }).sentences[0] ?? '', /train\.py:48/);
  assert.match(compared(LEAKS, { ...LEAKS, lines }).sentences[0] ?? '', /train\.py:48/);
});

test('too few steps, as long as the program runs and when it has ended', () => {
  const short = { steps: 8, info: { live: true } };
  assert.equal(compared(LEAKS, short).verdict, 'early');
  assert.equal(compared(LEAKS, { steps: 8 }).verdict, 'early');
  assert.equal(compared(LEAKS, { steps: 14, info: { live: true } }).verdict, 'early');
  assert.equal(compared(LEAKS, { steps: 14, peakBytes: GB }).verdict, 'good');
});

test('a leak of every tenth step takes more steps than one of each', () => {
  const rare = { ...LEAKS, steps: 200, every: 10 };
  assert.equal(compared(rare, { steps: 60 }).verdict, 'early');
  assert.equal(compared(rare, { steps: 200 }).verdict, 'good');
});

test('memory that this run never allocated is not mended, and lost events prove nothing', () => {
  assert.equal(compared(LEAKS, { allocates: false }).verdict, 'unknown');
  const lost = { events: 30_000, byCause: { budget: 30_000 } };
  assert.equal(compared(LEAKS, { lost, info: { lost } }).verdict, 'unknown');
});

test('a leak that the run before did not have, and a peak that is higher', () => {
  const more = (made: StepRun) => made.alloc(3, 4 * MB);
  assert.equal(compared({}, { more, peakBytes: 1.5 * GB }).verdict, 'bad');
  assert.equal(compared(LEAKS, { peakBytes: 1.5 * GB }).verdict, 'bad');
  assert.equal(compared({ steps: 4 }, { more }).sentences.length, 1, 'it may have had it');
  const late = (made: StepRun) => made.count > 30 && more(made);
  assert.equal(compared({ steps: 20 }, { more: late }).sentences.length, 1, 'it would have had it later');
});

test('a peak is judged against a run that got as far', () => {
  const failed = { info: { processes: [makeProcess({ ended: true, exitCode: 1 })] } };
  assert.equal(compareRuns(run(failed), run({ peakBytes: 2 * GB })), null, 'it would have gone further');
  assert.equal(compared({ ...failed, peakBytes: 2 * GB }, {}).verdict, 'good');
  assert.equal(compared({ steps: 18 }, { peakBytes: 2 * GB }).verdict, 'unknown');
  assert.equal(compared({ ...LEAKS, steps: 18 }, { peakBytes: 2 * GB }).verdict, 'good', 'the leak alone decides');
  assert.equal(compared({}, { steps: 18, peakBytes: 2 * GB }).verdict, 'bad');
  assert.equal(compareRuns(run({}), run({ ...failed, peakBytes: 0.5 * GB })), null, 'nor is its own a result');
  assert.equal(compared({}, { ...failed, peakBytes: 2 * GB }).verdict, 'bad');
});

test('beside a run that ran out of memory, one that ended well fits, and one that runs may not', () => {
  const [failed, exited] = [
    { ended: true, exitCode: 1 },
    { ended: true, exitCode: 0 },
  ].map(end => ({
    info: { processes: [makeProcess(end)] },
  }));
  const ranOut = run({ ...failed, steps: 12 });
  const finding = { failure: 0, verdict: 'oom', places: [], bytesPerStep: 0 } as unknown as Finding;
  ranOut.verdicts = { ...ranOut.verdicts, findings: [finding] };
  const fits = compareRuns(ranOut, run({ ...exited, peakBytes: 0.5 * GB }));
  assert.equal(fits?.verdict, 'good');
  assertSentence(fits.sentences.join('\n'));
  const again = compareRuns(ranOut, ranOut);
  assert.equal(again?.verdict, 'bad');
  assertSentence(again.sentences.join('\n'));
  for (const open of [failed, { info: { live: true } }]) assert.equal(compareRuns(ranOut, run(open ?? {})), null);
});

test('of a run whose recording was paused neither the steps nor the peak are known', () => {
  const pauses: TraceInfo['pauses'] = [{ process: 0, kind: 'recording', beginNs: 1, endNs: 2 }];
  assert.equal(compareRuns(run({ info: { pauses } }), run({ peakBytes: 0.5 * GB })), null);
  assert.equal(compareRuns(run({}), run({ steps: 30, peakBytes: 2 * GB, info: { pauses } })), null);
  assert.equal(compared(LEAKS, { steps: 8, info: { pauses } }).sentences.length, 1);
  const ofDriver = pauses.map(one => ({ ...one, kind: 'driver' as const }));
  assert.equal(compared({ info: { pauses: ofDriver } }, { peakBytes: 0.5 * GB }).verdict, 'good');
});

test('a leak of a run that failed is mended where the new run got far enough; its peak is no measure', () => {
  const failed = { ...LEAKS, info: { processes: [makeProcess({ ended: true, exitCode: 1 })] } };
  const mended = compared(failed, { peakBytes: failed.peakBytes });
  assert.deepEqual([mended.verdict, mended.sentences.length], ['good', 1], 'the leak alone');
  assert.equal(compared(failed, { steps: 8, peakBytes: 2 * GB }).verdict, 'early');
  assert.equal(compared(failed, LEAKS).verdict, 'bad');
  assert.equal(compareRuns(run({ ...failed, steps: 8 }), run(LEAKS)), null, 'it did not come to see it');
});

test('while it runs the peak is not known, unless it is higher already', () => {
  assert.equal(compared(LEAKS, { info: { live: true } }).sentences.length, 1);
  const higher = compared(LEAKS, { info: { live: true }, peakBytes: 2 * GB });
  assert.match(higher.sentences[1] ?? '', /1\.36 GiB/);
  assert.doesNotMatch(higher.sentences[1] ?? '', /2 GiB/, 'which the page shows, of a later moment');
  const further = { steps: 90, info: { live: true }, peakBytes: 2 * GB };
  assert.equal(compared(LEAKS, further).sentences.length, 1);
  assert.equal(compareRuns(run({}), run({ info: { live: true } })), null, 'nothing is to be said');
});

test('the line that holds is named, and moves as those around it', () => {
  const source = run(LEAKS);
  const [leak] = source.verdicts.findings;
  assert.ok(leak);
  leak.holder = { ...holder, file: SCRIPT, line: 45 };
  const found = compareRuns(source, run({ lines: { 1: 48, 2: 51 } }));
  assert.match(found?.sentences[0] ?? '', /train\.py:55 /);
  const stack = (line: number): Frame[] => [
    { file: '/home/user/lib.py', line: 7, function: 'keep' },
    { file: SCRIPT, line, function: 'train' },
  ];
  const called = run({ ...LEAKS, frames: { 1: stack(44) } });
  called.verdicts.findings[0]!.holder = { ...holder };
  const moved = compareRuns(called, run({ frames: { 1: stack(46) }, lines: { 2: 41 } }));
  assert.match(moved?.sentences[0] ?? '', /train\.py:47 /, 'also where it only calls what allocates');
});

const holder = {
  ...{ path: 'kept', kind: 'global', function: 'train', length: null, bound: null },
  ...{ file: SCRIPT, line: 45 },
};

const inFunction = (line: number, name = 'train'): Frame[] => [{ file: SCRIPT, line, function: name }];

/** Site 1 allocates no longer; what site 3 keeps grows instead. By their order its line is taken for the harmless one of site 2. */
function beside(name: string, suspected: boolean, path?: string) {
  const frames = { 2: inFunction(41), 3: inFunction(49, name) };
  const now = run({ allocates: false, frames, more: made => made.alloc(3, 2 * MB) });
  const [leak] = now.verdicts.findings;
  assert.ok(leak);
  if (suspected) leak.verdict = 'rising';
  if (path !== undefined) leak.holder = { ...holder, path, line: 54 };
  return now;
}

test('nothing is mended while what grows has the holder, or stands in the function', () => {
  const old = run({ ...LEAKS, frames: { 1: inFunction(38), 2: inFunction(41) } });
  const sentences = [beside('train', true), beside('train', false), beside('other', false)].map(now => {
    const found = compareRuns(old, now);
    return [found?.verdict, ...(found?.sentences ?? [])].join('\n');
  });
  assert.doesNotMatch(sentences.join('\n'), /no longer grows|but did not before.*\n.*may still/);
  old.verdicts.findings[0]!.holder = { ...holder };
  const held = compareRuns(old, beside('other', true, 'kept'));
  assert.equal(held?.verdict, 'unknown');
  assertSentence([...sentences, ...held.sentences].join('\n'));
});

test('what another leak of the function is says nothing of this one', () => {
  const two = { ...LEAKS, more: (made: StepRun) => made.alloc(3, 4 * MB) };
  const lines = { 1: 38, 2: 41, 3: 45 };
  const split = (made: ReturnType<typeof run>) => {
    const [all] = made.verdicts.findings;
    assert.ok(all);
    const ofSite = (site: number) => {
      const places = all.places.filter(place => place.site === site);
      const [place = null] = places;
      return { ...all, id: String(site), places, place, bytesPerStep: place?.bytesPerStep ?? 0, sites: [site] };
    };
    made.verdicts.findings = all.sites.map(ofSite);
    return made;
  };
  const sentences = compareRuns(split(run({ ...two, lines })), run({ ...two, keeps: 0, lines }))?.sentences;
  assert.ok(sentences?.some(each => /^train\.py:38 no longer grows/.test(each)));
  assert.ok(sentences?.some(each => /^train\.py:45 grows as before/.test(each)));
});

test('a run on a simulated GPU is beside none on a real one', () => {
  const real = run(LEAKS);
  const processes = real.source.info().processes.map(one => ({ ...one, simulated: true }));
  assert.equal(compareRuns(real, run({ info: { processes } })), null);
});
