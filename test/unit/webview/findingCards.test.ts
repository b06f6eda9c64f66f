// What a finding's card says, and which cards there are.
import assert from 'node:assert/strict';
import type { FindingView, HolderFound } from '../../../extension/protocol/requests/verdictRequests';
import { isLeak, type OutOfMemoryVerdict } from '../../../extension/protocol/verdicts';
import { shownFindings } from '../../../webview/explorer/findings/logic';
import { figures, holderText, lineText, moreFigures } from '../../../webview/explorer/findings/text';
import { findings } from '../../page/fakeFindings';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const view = findings();
const leak = view.findings.find(finding => finding.id === 'leak 0')!;
const holder: HolderFound = {
  path: 'train().seen[...]',
  kind: 'container',
  file: '/t.py',
  line: 3,
  function: 'train',
  length: 12,
  bound: null,
  count: 8,
  bytes: 2048,
  chain: [{ kind: 'deque', name: '[...]', type: 'Tensor', length: 12 }],
};

test('leaks first, a few unless all are wanted', () => {
  const ids = (all: boolean): string[] => shownFindings(view.findings, all).map(finding => finding.id);
  assert.deepEqual(ids(false), ['leak 0', 'leak 1', 'fragmentation 0']);
  assert.deepEqual(ids(true), ['leak 0', 'leak 1', 'fragmentation 0', 'anomaly 0']);
});

test('growth that is next to nothing beside the fastest is folded away', () => {
  const small = { ...leak, id: 'small', bytesPerStep: leak.bytesPerStep / 200 };
  const ids = (all: boolean): string[] => shownFindings([leak, small], all).map(finding => finding.id);
  assert.deepEqual([ids(false), ids(true)], [['leak 0'], ['leak 0', 'small']]);
  assert.deepEqual(
    shownFindings([small], false).map(finding => finding.id),
    ['small'],
  );
  const elsewhere = { ...small, process: leak.process + 1 };
  assert.equal(shownFindings([leak, elsewhere], false).length, 2);
});

test('no failure is folded away, and one that came of a leak is first', () => {
  const failure = (id: string, cause: FindingView['cause']): FindingView => ({ ...leak, id, verdict: 'oom', cause });
  const many = [failure('oom 1', 'full'), ...view.findings, failure('oom 2', 'leak')];
  const ids = shownFindings(many, false).map(finding => finding.id);
  assert.deepEqual(ids, ['leak 0', 'leak 1', 'oom 2', 'oom 1']);
});

test('figures as far as they are known', () => {
  assertSentence(figures(leak).join('\n'));
  assertSentence(figures({ ...leak, fullInSteps: 1 })[1]);
  assertSentence(moreFigures(leak).join('\n'));
  assert.equal(moreFigures(leak)[0]?.includes(leak.heldWhen), true);
  const request = { ...leak, verdict: 'oom', cause: 'full', sinceStep: null, confidence: 1 } as const;
  assert.deepEqual(moreFigures(request), [], 'what did not fit is not held');
  const mayStop: FindingView = { ...leak, verdict: 'rising' };
  assert.deepEqual(moreFigures(mayStop), moreFigures({ ...leak, confidence: 1 }), 'its growth alone is sure');
  const failed = { ...leak, atStep: 31, processes: 4, bytesPerStep: 0, sinceStep: null };
  assert.deepEqual(figures(failed), ['in step 31', 'in 4 processes']);
  const room = { limitBytes: 192 << 20, inUseBytes: 172 << 20, missingBytes: 44 << 20, reservedBytes: 190 << 20 };
  const failure = room as OutOfMemoryVerdict;
  assertSentence(moreFigures({ ...request, failure }).join(' · '));
  assertSentence(moreFigures({ ...request, failure: { ...failure, limitBytes: 190 << 20 } }).join(' · '));
  const unknown = { ...leak, sinceStep: null, confidence: 1, bytesPerStep: 0, bytes: 0 };
  assert.deepEqual([...figures(unknown), ...moreFigures(unknown)], []);
});

test('only growth is red', () => {
  const red = (part: Partial<FindingView>): boolean => isLeak({ ...leak, ...part });
  assert.ok(red({}) && red({ verdict: 'oom', cause: 'leak' }));
  assert.ok(!red({ verdict: 'oom', cause: 'full' }) && !red({ verdict: 'fragmentation' }));
});

test('a holder: what it is, how many it holds, how many of what was asked', () => {
  assert.equal(holderText(holder, 9), 'deque of 12 · 8 of 9 blocks, 2 KiB');
  assert.equal(holderText({ ...holder, bound: 30 }, 9), 'deque 12/30 · 8 of 9 blocks, 2 KiB');
  const global = { ...holder, kind: 'global', length: null, chain: [] };
  assert.equal(holderText(global, 8), 'global variable · 8 of 8 blocks, 2 KiB');
  assert.match(holderText({ ...global, kind: 'none' }, 8), /another process/);
  assert.equal(lineText(holder), 't.py:3');
  assert.equal(lineText(null), '');
});
