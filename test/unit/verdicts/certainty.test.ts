import assert from 'node:assert/strict';
import { doubtOf, type Growth } from '../../../extension/analysis/findings/kinds/certainty';
import type { FindingHolder } from '../../../extension/protocol/verdicts';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const HOLDER: FindingHolder = {
  path: 'trainer.history[...]',
  kind: 'container',
  file: '/x/train.py',
  line: 9,
  function: 'fit',
  length: 20,
  bound: null,
};
const RUNS: Growth = {
  holder: null,
  rises: 20,
  freed: false,
  bytes: 1e6,
  deviceBytes: 1e9,
  ended: false,
  nameable: true,
  settingUp: false,
  built: false,
  guessed: false,
  snapshot: false,
  models: false,
  ofLibrary: false,
  ofSize: false,
  ofGraph: false,
  pinnedCache: false,
};
const BOUNDED: FindingHolder = { ...HOLDER, limit: 'shrinks' };
const ENDLESS: FindingHolder = { ...HOLDER, limit: 'none' };
const isLeak = (growth: Partial<Growth>): boolean => doubtOf({ ...RUNS, ...growth }) === null;

test('what nothing in the program takes anything out of is a leak at once', () => {
  assert.ok(isLeak({ holder: ENDLESS }));
});

test('while the program runs, what nobody is known to hold may be filling; at its end it is a leak', () => {
  assertSentence(doubtOf(RUNS) ?? '');
  assertSentence(doubtOf({ ...RUNS, holder: HOLDER }) ?? '');
  assert.ok(isLeak({ ended: true }));
  assert.ok(isLeak({ nameable: false }), 'nobody will ever tell');
  assert.ok(isLeak({ rises: 256 }), 'more than most bounds');
  assert.ok(isLeak({ bytes: 3e8 }), 'a share of the device');
  assert.ok(!isLeak({ bytes: 3e8, deviceBytes: null }));
});

test('rounds of a loop that nothing names are no proof: a holder without a bound, or many rounds, are', () => {
  const guessed = { guessed: true, nameable: true };
  assertSentence(doubtOf({ ...RUNS, ...guessed }) ?? '');
  assertSentence(doubtOf({ ...RUNS, ...guessed, ended: true }) ?? '');
  assert.ok(isLeak({ ...guessed, ended: true, rises: 64 }));
  assert.ok(isLeak({ ...guessed, holder: ENDLESS }));
  assert.ok(isLeak({ ...guessed, holder: ENDLESS, rises: 12 }));
  assertSentence(doubtOf({ ...RUNS, ...guessed, holder: ENDLESS, rises: 11 }) ?? '');
  assert.ok(isLeak({ holder: ENDLESS, rises: 6 }), 'the program names its steps');
  assert.ok(isLeak({ ...guessed, ofLibrary: true, ended: true }), 'no variable holds what a library took for itself');
  assert.ok(!isLeak({ ...guessed, ofLibrary: true }), 'which may be setting up');
  assert.ok(!isLeak({ ...guessed, snapshot: true, rises: 63, ended: true }), 'a snapshot names no holder');
  assert.ok(isLeak({ ...guessed, snapshot: true, rises: 64, ended: true }), 'but no set-up has so many rounds');
  assert.ok(isLeak({ snapshot: true, ended: true }), 'annotations name its steps');
});

test('at the end of a run, what has a bound and never came to it is told in the past, with what would make it certain', () => {
  assertSentence(doubtOf({ ...RUNS, holder: BOUNDED, ended: true }));
  for (const how of ['joins', 'length', 'removes'] as const)
    assertSentence(doubtOf({ ...RUNS, holder: { ...BOUNDED, limitAt: { how, file: '/job/predict.py', line: 24 } } }));
});

test('the graph of a variable that is set anew needs no room on the CPU, but the tensor without it', () => {
  const path = 'train().running_loss (its graph)';
  const limitAt = { how: 'removes', file: '/job/once.py', line: 11 } as const;
  const holder: FindingHolder = { ...BOUNDED, path, container: undefined, limitAt };
  assertSentence(doubtOf({ ...RUNS, holder, ended: true, ofGraph: true }));
});

test('pinned memory in PyTorch’s cache that nobody is known to hold is not sure when the program ends', () => {
  const pinned = { pinnedCache: true, ended: true };
  assertSentence(doubtOf({ ...RUNS, ...pinned }) ?? '');
  assert.ok(isLeak({ ...pinned, holder: HOLDER }), 'tensors lie in it');
  assert.ok(isLeak({ ...pinned, rises: 256 }), 'more than any program runs ahead');
});

test('a variable that gets a new, bigger tensor again and again may have inputs that grow on purpose', () => {
  const anew: FindingHolder = { ...HOLDER, limit: 'anew' };
  for (const ended of [false, true]) {
    const sized = { holder: anew, ofSize: true, rises: 256, ended };
    assertSentence(doubtOf({ ...RUNS, ...sized }) ?? '');
    assert.ok(isLeak({ ...sized, ofSize: false }), 'one variable does not keep ever more tensors');
  }
});

test('rounds that may be those of a set-up are judged when the program has ended', () => {
  assert.ok(!isLeak({ holder: ENDLESS, settingUp: true, rises: 1000 }));
  assert.ok(isLeak({ settingUp: true, ended: true }));
  const builds = { settingUp: true, ended: true, built: true };
  assert.ok(!isLeak({ ...builds, holder: ENDLESS, rises: 126 }), 'a list of layers, behind which memory runs out');
  assert.ok(isLeak({ ...builds, holder: ENDLESS, rises: 200 }));
});

test('what the program can take something out of is a leak when it does and the rest grows all the same', () => {
  const holder = BOUNDED;
  assertSentence(doubtOf({ ...RUNS, holder }) ?? '');
  assert.ok(!isLeak({ holder, ended: true, rises: 300 }), 'an epoch that the run ended before, or after');
  assert.ok(isLeak({ holder, ended: true, rises: 12, freed: true }));
  assert.ok(isLeak({ holder, rises: 64, freed: true }));
  assert.ok(!isLeak({ holder, rises: 63, freed: true }));
  assert.ok(!isLeak({ holder, ended: true, rises: 100_000 }), 'a replay buffer takes so many');
});

test('what is taken out in a case that never came is a leak at the end, if it had the time', () => {
  const holder: FindingHolder = { ...HOLDER, limit: 'maybe' };
  assert.ok(!isLeak({ holder, rises: 300 }));
  assert.ok(!isLeak({ holder, ended: true, rises: 23 }));
  assert.ok(isLeak({ holder, ended: true, rises: 24 }));
});

test('models that are kept, and layers that are trained one after the other, may be wanted, also at the end', () => {
  const doubt = doubtOf({ ...RUNS, ended: true, holder: ENDLESS, models: true });
  assertSentence(doubt ?? '');
});
