// What to try after a failed allocation, and what proves it.
import assert from 'node:assert/strict';
import { t } from '@vscode/l10n';
import type { MemorySnapshot, OutOfMemory, Pass, Site, SnapshotSite } from '../../../extension/protocol/trace';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import { findingText } from '../../../extension/report/tables/tableFindings';
import { withForecast } from '../../../extension/text/roomText';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const [KB, MB] = [1 << 10, 1 << 20];
const STEP = 31;
/** Lines of the script, as sites. */
const [INPUT, FORWARD, BACKWARD, WEIGHTS, OPTIMIZER] = [10, 11, 13, 4, 14];
const PASSES: Record<number, Pass> = { [BACKWARD]: 'backward', [OPTIMIZER]: 'optimizer' };

class Trained extends RunTrace {
  override site(id: number): Site | null {
    const site = super.site(id);
    return site && { ...site, pass: PASSES[id] ?? 'other' };
  }
}

const made = (site: number, liveBytes: number, part: Partial<SnapshotSite> = {}): SnapshotSite => {
  const counts = { liveCount: 1, oldestStep: STEP, grownBytes: 0, activationBytes: 0 };
  return { ...counts, site, liveBytes, stepAllocatedBytes: liveBytes, usualAllocatedBytes: 0, ...part };
};

/** 30 steps of such blocks by line, then a request at a line that failed with these alive, of 192 MiB. */
function judged(
  failed: { site: number; requestedBytes: number; sites: SnapshotSite[]; tensorBytes?: number },
  usual: Record<number, number> = {},
  now = STEP,
) {
  const run = new StepRun();
  for (const site of [INPUT, FORWARD, BACKWARD, WEIGHTS, OPTIMIZER]) run.site(site);
  for (let step = 1; step < now; step++) {
    for (const [site, bytes] of Object.entries(usual)) run.free(run.alloc(Number(site), bytes));
    run.endStep();
  }
  const { site, requestedBytes, sites, tensorBytes = 172 * MB } = failed;
  const none = { segments: 0, segmentBytes: 0, partlyUsedSegments: 0, emptyBytes: 0, freeBytes: 0 };
  const snapshot: MemorySnapshot = {
    ...{ step: now, tensorBytes, reservedBytes: 192 * MB, driverBytes: 0, processBytes: null, usedBytes: null },
    ...{
      totalBytes: null,
      tracedBytes: null,
      fragmentation: { ...none, largestFreeBytes: 0 },
      pools: [],
      oldGradientBytes: 0,
      sites,
    },
    categories: [{ category: 'parameter', bytes: 8 * MB, count: 4 }],
  };
  const at = { process: 0, device: 0, layer: 'tensor', timeNs: 30.5e8, thread: 0, freeBytes: null } as const;
  const outOfMemory: OutOfMemory[] = [{ ...at, site, requestedBytes, liveBytes: tensorBytes, snapshot }];
  const { outOfMemory: verdicts, findings } = judgeTrace(new Trained(run, { outOfMemory }));
  const [verdict, card] = [verdicts[0]!, findings[0]!];
  return { ...verdict, card, kinds: verdict.advice.map(({ kind }) => kind) };
}

test('a broadcast needs proof: an exact square, the vector, and a size that was not there before', () => {
  const [vector, square] = [4 * KB, 4 * MB]; // 1,024 floats, and 1,024 times as many
  const kinds = (requestedBytes: number, sites: SnapshotSite[], usual = {}, site = FORWARD): string[] =>
    judged({ site, requestedBytes, sites }, usual).kinds;
  const alive = made(INPUT, vector);
  assert.ok(kinds(square, [alive]).includes('shapes'));
  for (const [why, found] of [
    ['724 × 724 floats only round up to it', kinds(2 * MB, [made(INPUT, 3 * KB)])],
    ['a mean of two sizes', kinds(square, [made(INPUT, 2 * vector + 512, { liveCount: 2 })])],
    ['weights of this size in an earlier step', kinds(square, [alive], { [WEIGHTS]: square })],
    ['the line had larger ones before', kinds(square, [alive], { [FORWARD]: 5 * MB })],
    ['such blocks are alive', kinds(square, [alive, made(WEIGHTS, square, { oldestStep: 1 })])],
    ['an optimizer broadcasts nothing', kinds(square, [alive], {}, OPTIMIZER)],
    ['a line of no program', kinds(square, [{ ...alive, site: 99 }])],
  ] as const)
    assert.ok(!found.includes('shapes'), why);
});

test('what was seen is not first where something else saves more', () => {
  const alive = made(INPUT, 4 * KB);
  assert.equal(judged({ site: FORWARD, requestedBytes: 4 * MB, sites: [alive] }).kinds[0], 'shapes');
  const batch = made(FORWARD, 160 * MB, { activationBytes: 160 * MB });
  assert.equal(judged({ site: FORWARD, requestedBytes: 4 * MB, sites: [alive, batch] }).kinds[0], 'batch');
});

test('in the forward pass of the first step no batch is known to fit: what is missing is the least', () => {
  const sites = [made(FORWARD, 160 * MB, { activationBytes: 160 * MB, oldestStep: 1 })];
  const { advice, cause } = judged({ site: FORWARD, requestedBytes: 40 * MB, sites }, {}, 1);
  assert.deepEqual([cause, advice[0]?.kind, advice[0]?.atLeast], ['full', 'batch', true]);
  assertSentence(advice[0]?.text);
});

/** In backward, of a batch 32 times as large as usual. */
const GROWN = {
  site: BACKWARD,
  requestedBytes: 64 * MB,
  sites: [
    made(BACKWARD, 68 * MB, { liveCount: 4 }),
    made(FORWARD, 64 * MB, { activationBytes: 64 * MB, stepAllocatedBytes: 96 * MB, usualAllocatedBytes: 3 * MB }),
    made(INPUT, 16 * MB, { usualAllocatedBytes: 512 * KB }),
  ],
};

test('a batch that grew is what comes first; a smaller one frees what the backward pass made too', () => {
  const { card, advice, detail, inUseBytes, missingBytes } = judged(GROWN, { [INPUT]: 512 * KB });
  assert.deepEqual([inUseBytes, missingBytes], [172 * MB, 44 * MB]);
  // Of the input, the activations, the backward pass without as much as the weights have, and the request: 204 MiB.
  assert.deepEqual([advice[0]?.kind, advice[0]?.bytes, advice[0]?.atLeast], ['batch', Math.round(61.2 * MB), true]);
  assertSentence([detail, card.headline, card.suggestion, ...card.evidence].join('\n'));
  assertSentence(findingText(card).join('\n'));
});

test('a line that runs in some steps alone made no larger batch, nor did one whose batch nothing used', () => {
  const [, forward, input] = GROWN.sites;
  const batch = (sites: SnapshotSite[], before: number): boolean =>
    /batch/.test(judged({ ...GROWN, sites }, { [INPUT]: before }).detail);
  assert.ok(batch(GROWN.sites, 512 * KB));
  assert.ok(!batch(GROWN.sites, 16 * MB));
  assert.ok(!batch([{ ...forward!, usualAllocatedBytes: 90 * MB }, input!], 512 * KB));
});

test('what a line behind the loop allocated is no batch: to free it comes first, and the page alone speaks of a tab', () => {
  const once = [made(WEIGHTS, 160 * MB), made(INPUT, 12 * MB, { usualAllocatedBytes: 12 * MB })];
  const failed = { site: 99, requestedBytes: 90 * MB, sites: once };
  const { advice } = judged(failed, { [INPUT]: 12 * MB });
  const batch = advice.find(({ kind }) => kind === 'batch')?.bytes ?? 0;
  assert.deepEqual([advice[0]?.kind, advice[0]?.bytes, batch < 12 * MB], ['once', 160 * MB, true]);
  assertSentence(advice[0]?.text);
  const { advice: ofLoop, card } = judged(failed, { [INPUT]: 12 * MB, [WEIGHTS]: 160 * MB });
  assert.equal(ofLoop[0]?.kind, 'batch');
  const page = withForecast({ ...ofLoop[0]!, text: card.suggestion }, 'page', t);
  for (const [text, tab] of [
    [page, true],
    [findingText(card).join('\n'), false],
  ] as const)
    assert.deepEqual([/\btab\b/.test(text), /gpu-memtrace/.test(text)], [tab, !tab], text);
});

test('what frees less than is missing says so', () => {
  const sites = [made(FORWARD, 30 * MB, { activationBytes: 30 * MB })];
  const ran = { [FORWARD]: 30 * MB };
  const { card, advice } = judged({ site: FORWARD, requestedBytes: 90 * MB, sites, tensorBytes: 190 * MB }, ran);
  assert.equal(advice[0]?.kind, 'batch');
  assertSentence(card.suggestion);
  const few = judged({ site: OPTIMIZER, requestedBytes: 90 * MB, sites, tensorBytes: 190 * MB });
  assertSentence(few.card.suggestion, 'not all of it is enough');
  assertSentence(findingText(few.card).join('\n'));
});

test('tensors of one size may be copies; in a step that is bigger than those before, a smaller batch comes first', () => {
  const advice = (usualAllocatedBytes: number) => {
    const facts = { activationBytes: 64 * MB, usualAllocatedBytes };
    const sites = [made(FORWARD, 64 * MB, facts), made(OPTIMIZER, 64 * MB, facts)];
    return judged({ site: FORWARD, requestedBytes: 64 * MB, sites }).advice;
  };
  assert.deepEqual([advice(64 * MB)[0]?.kind, advice(20 * MB)[0]?.kind], ['copies', 'batch']);
  // The request is one of them.
  assert.equal(advice(20 * MB).find(({ kind }) => kind === 'copies')?.bytes, 192 * MB);
});
