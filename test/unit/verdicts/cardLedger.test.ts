// The parts of a card sum to its total, whatever the card's own account tells.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { partsOf, readCards, type CardFacts } from '../../../extension/analysis/ledger/cardLedger';
import type { LedgerPart } from '../../../extension/protocol/requests/ledgerRequests';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';

const MB = 1 << 20;
const facts: CardFacts = {
  totalBytes: 100,
  tensorBytes: 10,
  pendingBytes: null,
  poolBytes: 0,
  reservedBytes: 25,
  driverBytes: 50,
  restBytes: null,
  othersBytes: null,
  untracedBytes: null,
};
const short = (parts: readonly LedgerPart[]): Record<string, number> =>
  Object.fromEntries(parts.map(part => [part.kind, part.bytes]));

test('tensors lie in the cache, the cache in what the driver gave out', () => {
  assert.deepEqual(short(partsOf(facts).parts), { tensor: 10, cached: 15, driver: 25, unknown: 50 });
});

test('what only graphs can use lies in the cache, and is no more than there is', () => {
  const partsWith = (poolBytes: number, pendingBytes: number | null): Record<string, number> =>
    short(partsOf({ ...facts, poolBytes, pendingBytes }).parts);
  assert.deepEqual(partsWith(6, null), { tensor: 10, pools: 6, cached: 9, driver: 25, unknown: 50 });
  assert.deepEqual(partsWith(60, 4), { tensor: 10, pending: 4, pools: 11, cached: 0, driver: 25, unknown: 50 });
});

test('what waits for a stream lies in the cache beside the tensors, and is no more than there is', () => {
  const partsWith = (pendingBytes: number): Record<string, number> => short(partsOf({ ...facts, pendingBytes }).parts);
  assert.deepEqual(partsWith(4), { tensor: 10, pending: 4, cached: 11, driver: 25, unknown: 50 });
  assert.deepEqual(partsWith(99), { tensor: 10, pending: 15, cached: 0, driver: 25, unknown: 50 });
});

test('the card tells the rest of the process and the others', () => {
  const { parts } = partsOf({ ...facts, restBytes: 8, othersBytes: 12, untracedBytes: 20 });
  assert.deepEqual(short(parts), { tensor: 10, cached: 15, driver: 25, rest: 8, others: 12, free: 30 });
});

test('a card that tells only its sum does not tell whose the rest is', () => {
  const { parts } = partsOf({ ...facts, untracedBytes: 20 });
  assert.deepEqual(short(parts), { tensor: 10, cached: 15, driver: 25, untold: 20, free: 30 });
});

test('more handed out than there is: no part is negative, and it is said', () => {
  const { parts, overBytes } = partsOf({ ...facts, driverBytes: 130 });
  assert.deepEqual([short(parts).unknown, overBytes], [0, 30]);
});

test('the parts always sum to the total and what is over it', () => {
  const bytes = fc.nat(1e6);
  const perhaps = fc.option(bytes);
  const any = fc.record({
    totalBytes: bytes,
    tensorBytes: bytes,
    pendingBytes: perhaps,
    poolBytes: bytes,
    reservedBytes: bytes,
    driverBytes: bytes,
    restBytes: perhaps,
    othersBytes: perhaps,
    untracedBytes: perhaps,
  });
  fc.assert(
    fc.property(any, one => {
      const { parts, overBytes } = partsOf(one);
      const sum = parts.reduce((all, part) => all + part.bytes, 0);
      assert.equal(sum, one.totalBytes + overBytes);
      assert.ok(parts.every(part => part.bytes >= 0));
    }),
  );
});

test('what the card says beside the traced bytes is of one moment, each part with its slope', () => {
  const run = new StepRun();
  for (let step = 1; step <= 40; step++) {
    run.pass(1, MB);
    run.endStep();
  }
  const ledger = {
    tensor: (step: number) => 100 * MB + step * MB,
    reserved: (step: number) => 200 * MB + step * MB,
    driver: () => 300 * MB,
    process: () => 700 * MB,
    used: () => 900 * MB,
  };
  const [card] = readCards(new RunTrace(run, { ledger, totalBytes: 1000 * MB }));
  assert.equal(card?.totalBytes, 1000 * MB);
  const parts = short(card?.parts ?? []);
  assert.deepEqual([parts.rest, parts.others, parts.tensor], [400 * MB, 200 * MB, 0]);
  const slope = (kind: string): number | null | undefined => card?.parts.find(part => part.kind === kind)?.bytesPerStep;
  assert.deepEqual([slope('tensor'), slope('cached'), slope('rest')], [MB, 0, 0]);
  assert.equal(
    card?.parts.some(part => part.kind === 'pending'),
    false,
  );
  const pending = (step: number): number => (step % 2 === 0 ? 30 * MB + step * MB : NaN);
  const [waiting] = readCards(
    new RunTrace(run, {
      ledger: { ...ledger, pending },
      totalBytes: 1000 * MB,
    }),
  );
  assert.deepEqual(
    ['pending', 'cached'].map(kind => waiting?.parts.find(part => part.kind === kind)?.bytesPerStep),
    [MB, -MB],
  );
  run.source = 'time';
  const [sliced] = readCards(new RunTrace(run, { ledger, totalBytes: 1000 * MB }));
  assert.ok(
    sliced?.parts.every(part => part.bytesPerStep === null),
    'a slice of time is no step',
  );
});
