import assert from 'node:assert/strict';
import { t } from '@vscode/l10n';
import { shareText } from '../../../extension/text/holderShare';
import { parseFields } from '../../../extension/base/fields';
import type { BlockFacts } from '../../../extension/protocol/trace';
import type { HeldBlocks, HolderAnswer } from '../../../extension/analysis/findings/kinds/holderAnswers';
import {
  heldBy,
  holderOf,
  holdersIn,
  readHolderAnswer,
  timeOf,
} from '../../../extension/analysis/findings/kinds/holderAnswers';
import { occasionText } from '../../../extension/analysis/findings/kinds/holderOccasion';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const parseHolders = (text: string, blocks: readonly BlockFacts[]): HeldBlocks[] =>
  heldBy(parseFields(text) ?? {}, blocks);

const block = (address: bigint, site: number, bytes = 100): BlockFacts => {
  return { address, known: true, alive: true, bytes, site, device: 0, step: 1, timeNs: 0 };
};

test('holders are joined to sites by address, decimal or hexadecimal', () => {
  const text = JSON.stringify({
    request: 3,
    holders: [
      {
        address: '0x10',
        path: 'cache',
        kind: 'dict',
        file: '/t.py',
        line: 6,
        function: 'grow',
        length: 2,
        chain: [{ kind: 'dict', name: '[...]', type: 'Tensor', length: 2 }, 7],
      },
      { address: 32, path: 'cache', kind: 'dict', file: '/t.py', line: 6, function: 'grow', length: 2 },
      { address: '48', path: 'other', kind: 'list' },
    ],
  });
  const [cache, other, ...more] = parseHolders(text, [block(16n, 1), block(32n, 2, 50), block(48n, 1)]);
  assert.deepEqual(
    [...(cache?.sites ?? [])],
    [
      [1, { count: 1, bytes: 100 }],
      [2, { count: 1, bytes: 50 }],
    ],
  );
  assert.deepEqual(cache?.holder, {
    path: 'cache',
    kind: 'dict',
    file: '/t.py',
    line: 6,
    function: 'grow',
    length: 2,
    bound: null,
  });
  assert.deepEqual(cache?.chain, [{ kind: 'dict', name: '[...]', type: 'Tensor', length: 2 }]);
  assert.deepEqual([other?.holder.path, more.length], ['other', 0]);
});

test('a group of blocks is one holder, and a block counts once', () => {
  const text = JSON.stringify({
    groups: [{ path: 'g', kind: 'global', addresses: ['0x10', '0x20', '0x20', 'x', null] }],
    holders: [{ address: '0x10', path: 'h', kind: 'local' }],
  });
  const held = parseHolders(text, [block(16n, 1), block(32n, 1)]);
  assert.deepEqual(
    held.map(entry => [entry.holder.path, entry.sites.get(1)?.count]),
    [['g', 2]],
  );
});

test('a survey names a few blocks of a group and counts all of them', () => {
  const addresses = ['0x10', '0x20'];
  const text = JSON.stringify({ groups: [{ path: 'losses (its graph)', kind: 'autograd', count: 50, addresses }] });
  const [held] = parseHolders(text, [block(16n, 1), block(32n, 2, 300)]);
  assert.deepEqual(
    [held?.sites.get(1), held?.sites.get(2)],
    [
      { count: 25, bytes: 2500 },
      { count: 25, bytes: 7500 },
    ],
  );
});

test('the bytes of a group are those that the program counted, not those of the few that it names', () => {
  const group = {
    path: 'running (its graph)',
    kind: 'autograd',
    count: 50,
    bytes: 40_000,
    addresses: ['0x10', '0x20'],
  };
  const [held] = parseHolders(JSON.stringify({ groups: [group] }), [block(16n, 1), block(32n, 1, 300)]);
  assert.deepEqual(held?.sites.get(1), { count: 50, bytes: 40_000 });
});

test('a holder of little is no second one of the others', () => {
  const list = { path: 'xs', kind: 'container', file: '/t/a.py', line: 9, count: 60 };
  const loop = { path: 'x', kind: 'local', file: '/t/a.py', line: 8, count: 1, addresses: ['0x20'] };
  const text = JSON.stringify({
    ok: true,
    holders: [
      { ...list, addresses: ['0x10'] },
      { ...loop, also: [{ ...list, addresses: ['0x20'] }] },
    ],
  });
  const read = readHolderAnswer({ text, blocks: [block(16n, 1), block(32n, 1)] }, [1], { queried: 61, alive: 61 });
  assert.ok('holders' in read);
  assert.deepEqual(
    read.holders.map(holder => [holder.path, shareText(holder, t)]),
    [
      ['xs', null],
      ['x', null],
    ],
  );
});

test('what is no answer, or damaged, says nothing', () => {
  for (const text of ['', '{', '[]', 'null', '{"holders":7}', '{"holders":[1,null,{}]}', '{"error":"no torch"}']) {
    assert.deepEqual(parseHolders(text, [block(16n, 1)]), [], text);
  }
  assert.deepEqual(parseHolders('{"groups":[{"path":"p","kind":"k","addresses":["0x10"]}]}', []), [], 'no block');
});

test('the holder of most blocks is named, if it holds its share', () => {
  const held = (path: string, count: number): HeldBlocks => ({
    holder: { path, kind: 'local', file: null, line: null, function: null, length: null, bound: null },
    chain: [],
    sites: new Map([[1, { count, bytes: count }]]),
    timesNs: [],
  });
  const answersOf = (...found: HeldBlocks[]): HolderAnswer[] => {
    return [{ process: 0, timeNs: 1, when: 'exit', step: 0, held: found, sites: null, cutAfterMs: null, pauseMs: 7 }];
  };
  const answers = answersOf(held('x', 1), held('cache', 8), held('y', 2));
  assert.equal(holderOf(answers, 0, [1], 0.5, 3)?.path, 'cache');
  assert.equal(holderOf(answers, 0, [1], 0.5, 3)?.asked, undefined, 'nobody waited for the look at the end');
  const running = answers.map(answer => ({ ...answer, when: 'asked' as const }));
  assert.deepEqual(holderOf(running, 0, [1], 0.5, 3)?.asked, { timeNs: 1, pauseMs: 7 });
  assert.equal(holderOf(answers, 0, [1], 0.9, 3), null);
  assert.equal(holderOf(answers, 0, [1], 0, 9), null);
  assert.equal(holderOf(answers, 0, [2], 0, 1), null);
  assert.equal(holderOf(answers, 1, [1], 0, 1), null);
  const ownerless = held('nobody', 20);
  ownerless.holder.kind = 'none';
  assert.equal(holderOf(answersOf(ownerless, held('x', 3)), 0, [1], 0, 1)?.path, 'x');
  assert.equal(holderOf(answersOf(ownerless, held('x', 3)), 0, [1], 0.5, 3), null, '3 of 23');
  assert.equal(holderOf(answersOf(ownerless), 0, [1], 0, 1), null);
  const left = answersOf(held('x', 3));
  assert.equal(holderOf(left, 0, [1], 0, 1, 12)?.path, 'x');
  assert.equal(holderOf(left, 0, [1], 0, 1, 13), null, 'it did not hold the ten that are gone');
  const early = left.map(answer => ({ ...answer, when: 'asked' as const }));
  assert.equal(holderOf(early, 0, [1], 0, 1, 13)?.path, 'x', 'there were no more then');
});

test('what has the newest blocks alone, where nobody has the others, is no holder', () => {
  const at = (times: number[]): BlockFacts[] =>
    times.map(time => ({ ...block(BigInt(time), 1), step: time, timeNs: 10 * time }));
  const steps = Array.from({ length: 40 }, (_, i) => i + 1);
  const lost = { path: 'nobody', kind: 'none', addresses: steps.slice(0, -1) };
  const holderIn = (own: object, of: object = lost): string | undefined => {
    const held = parseHolders(JSON.stringify({ groups: [of, { path: 'x', kind: 'global', ...own }] }), at(steps));
    const answer = { process: 0, timeNs: 1, step: 0, held, sites: null, cutAfterMs: null, pauseMs: null };
    return holderOf([{ ...answer, when: 'asked' }], 0, [1], 0, 1)?.path;
  };
  const newest = { addresses: steps.slice(-1) };
  assert.equal(holderIn(newest), undefined);
  assert.equal(holderIn({ ...newest, limit: 'anew' }), undefined);
  assert.equal(holderIn({ ...newest, count: 3 }), 'x', 'the answer does not name all that it has');
  assert.equal(
    holderIn({ ...newest, limit: null }),
    'x',
    'it is made from its old value: its graph may have the others',
  );
  assert.equal(holderIn(newest, { ...lost, kind: 'unknown' }), 'x', 'time ran out: others may be found to hang on it');
  assert.equal(holderIn(newest, { ...lost, addresses: [] }), 'x', 'there are no others');
  assert.equal(holderIn({ addresses: [20, 40] }, { ...lost, addresses: steps.filter(step => step % 20) }), 'x');
});

test('a holder that has not all says how many it has, who else has a part that matters, and how many others hold some', () => {
  const held = (path: string, count: number, kind = 'local', line: number | null = null): HeldBlocks => ({
    holder: {
      path,
      kind,
      file: line === null ? null : '/home/ada/train.py',
      line,
      function: null,
      length: null,
      bound: null,
    },
    chain: [],
    sites: new Map([[1, { count, bytes: count }]]),
    timesNs: [],
  });
  const shareOf = (...all: HeldBlocks[]): string | null => {
    const answer = { process: 0, timeNs: 1, step: 0, held: all, sites: null, cutAfterMs: null, pauseMs: 7 };
    const holder = holderOf([{ ...answer, when: 'asked' }], 0, [1], 0, 1);
    assert.ok(holder);
    return shareText(holder, t);
  };
  assert.equal(shareOf(held('cache', 8)), null);
  assertSentence(shareOf(held('x', 5, 'local', 12), held('cache', 8)));
  assertSentence(shareOf(held('x', 3), held('cache', 8), held('y', 1), held('z', 1)));
  assertSentence(shareOf(held('cache', 8), held('nobody', 2, 'none')));
  assertSentence(
    shareOf(held('kept (its graph)', 6, 'autograd', 12), held('kept', 3, 'local', 12), held('x', 3)),
    'what hangs on it with its graph and without is its own',
  );
  assert.equal(shareOf(held('xs', 149), held('b', 1)), null, 'the variable of a loop has the newest');
});

test('who else has the same blocks is told, by site, and then no fix of one of them', () => {
  const fix = { line: 9, column: 1, endLine: 9, endColumn: 5, before: 'v', after: 'v.cpu()', adds: '.cpu()' };
  const also = [
    { path: 'other', kind: 'container', file: '/t/a.py', line: 10, count: 3, addresses: ['0x10', '0x20', '0x40'] },
    { path: 'third', kind: 'container', file: '/t/a.py', line: 12, count: 1, addresses: ['0x10'] },
    { path: 'newest', kind: 'local', count: 0, addresses: ['0x99'] },
  ];
  const first = { path: 'one', kind: 'container', file: '/t/a.py', line: 9, count: 4, fix: { ...fix, statement: 'x' } };
  const answer = {
    text: JSON.stringify({
      ok: true,
      holders: [{ ...first, addresses: ['0x10', '0x20', '0x30', '0x40'], also }],
    }),
    blocks: [block(16n, 1), block(32n, 1), block(48n, 1), block(64n, 2)],
  };
  const sharesOf = (...sites: number[]): [number, boolean, boolean][] => {
    const read = readHolderAnswer(answer, sites, { queried: 4, alive: 4 });
    assert.ok('holders' in read);
    return read.holders.map(holder => {
      const share = shareText(holder, t);
      if (share !== null) assertSentence(share);
      return [holder.count, share !== null, holder.fix !== undefined];
    });
  };
  assert.deepEqual(sharesOf(1), [[3, true, false]]);
  assert.deepEqual(sharesOf(2), [[1, true, false]]);
  answer.text = JSON.stringify({ ok: true, holders: [{ ...first, addresses: ['0x10'] }] });
  assert.deepEqual(sharesOf(1), [[4, false, true]], 'nobody else');
  answer.text = JSON.stringify({ ok: true, holders: [{ ...first, addresses: ['0x10', '0x20', '0x40'] }] });
  assert.deepEqual(sharesOf(2), [[1, false, true]], 'three blocks stand for four: a third of them is one');
  const too = { path: 'log', file: '/t/log.py', line: 51, blocks: 8, of: 8 };
  const part = { path: 'cache', file: '/t/a.py', line: 44, blocks: 4 };
  const some = { path: 'seen', kind: 'container', file: null, line: null, function: null, length: null, bound: null };
  const holder = { ...some, also: [too], share: { blocks: 8, of: 13, others: 1, named: [part] } };
  assert.match(shareText(holder, t) ?? '', /all/, 'three hold it, though one of them alone has the same blocks');
});

test('a cycle that is seen at the end alone is not named where a look before it did not see it', () => {
  const answer = (when: 'asked' | 'exit', kind: string, path: string, site = 1): HolderAnswer => {
    const holders = [1n, 2n, 3n, 4n].map(address => ({ address: Number(address), path, kind }));
    const held = parseHolders(
      JSON.stringify({ holders }),
      [1n, 2n, 3n, 4n].map(address => block(address, site)),
    );
    return { process: 0, timeNs: 1, when, step: 0, held, sites: null, cutAfterMs: null, pauseMs: 7 };
  };
  const atEnd = answer('exit', 'cycle', 'cycle of Node');
  const named = (...before: HolderAnswer[]): string | undefined => holderOf([atEnd, ...before], 0, [1], 0.5, 1)?.path;
  assert.equal(named(), 'cycle of Node');
  assert.equal(named(answer('asked', 'none', 'nobody')), 'cycle of Node');
  assert.equal(named(answer('asked', 'unknown', 'not found')), undefined);
  assert.equal(named(answer('asked', 'local', 'main().rows[...]', 2)), undefined, 'it was about another site');
});

const FIVE = { queried: 5, alive: 5 };
test('an answer about some sites: who holds how many, how it went', () => {
  const answer = {
    text: JSON.stringify({
      ok: true,
      tookMs: 12.3,
      cut: true,
      holders: [
        { path: '__main__.kept[...]', kind: 'container', length: 9, addresses: ['0x10', '0x20'] },
        { path: 'train().x', kind: 'local', addresses: ['0x30'] },
        { path: 'nobody', kind: 'none', addresses: ['0x40'] },
      ],
    }),
    blocks: [block(16n, 1), block(32n, 1), block(48n, 2), block(64n, 1, 1)],
  };
  const read = readHolderAnswer(answer, [1], FIVE);
  assert.ok('holders' in read);
  assert.deepEqual(
    read.holders.map(({ path, count, bytes, length }) => [path, count, bytes, length]),
    [
      ['__main__.kept[...]', 2, 200, 9],
      ['nobody', 1, 1, null],
    ],
  );
  assertSentence(read.sentence);
  assertSentence(readHolderAnswer(answer, [1], { queried: 5, alive: 3000 }).sentence);
  assertSentence(readHolderAnswer(answer, [7], FIVE).sentence);
  assertSentence(readHolderAnswer({ text: '{"ok":false,"error":"X"}', blocks: [] }, [1], FIVE).sentence);
  assertSentence(readHolderAnswer({ text: 'x', blocks: [] }, [1], FIVE).sentence);
});

test('a recorded answer says of how many blocks it is where the card has another count', () => {
  const addresses = [16n, 32n, 48n];
  const holders = addresses.map(address => ({ path: 'train().x', kind: 'local', addresses: [String(address)] }));
  const held = parseHolders(
    JSON.stringify({ holders }),
    addresses.map(address => block(address, 1)),
  );
  const textOf = (when: HolderAnswer['when'], count: number): string => {
    const answer = { process: 0, timeNs: 1, when, step: 7, held, sites: null, cutAfterMs: null, pauseMs: 7 };
    return occasionText({ answer, holders: holdersIn(held, [1]) }, count);
  };
  assertSentence(textOf('asked', 3), 'no count');
  assertSentence(textOf('asked', 4503), 'a sample');
  assertSentence([textOf('asked', 1), textOf('step', 4), textOf('exit', 1)].join('\n'), 'the count');
});

test('a look that a backward pass hid all from has told nothing, as one that was cut', () => {
  const cut = (holders: object[], more: object = {}): boolean =>
    timeOf({ answer: { text: JSON.stringify({ ok: true, tookMs: 4, holders, ...more }) } }).cut;
  const [unseen, found] = [
    { path: 'not seen', kind: 'unknown' },
    { path: '__main__.x', kind: 'global' },
  ];
  assert.deepEqual([cut([unseen]), cut([unseen, found]), cut([found]), cut([])], [true, false, false, false]);
  assert.ok(cut([found], { cut: true }));
  assert.deepEqual(timeOf({ error: 'gone' }), { pauseMs: null, cut: false });
});
