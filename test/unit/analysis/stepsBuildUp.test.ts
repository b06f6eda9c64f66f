import assert from 'node:assert/strict';
import type { Answer, LedgerSeries, SiteQuery, SiteWindow } from '../../../extension/protocol/trace';
import {
  stepsBuildUp,
  stepsBuildUpSentence,
  stepsBuildUpTitle,
  toothBefore,
} from '../../../extension/report/tables/stepsBuildUp';
import { sentencesOf } from '../../sentences.mjs';
import { FakeTrace, makeInfo, makeSite, makeTotals, type FakeAllocation } from '../fakeTrace';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const STEP_NS = 1_000;
/** What the model has, and what each step has for itself. */
const [MODEL, WITHIN] = [20 * MB, 10 * MB];
const FILE = '/home/ada/train.py';
const SITES = [18, 25].map(line =>
  makeSite({ id: line, frames: [{ file: FILE, line, function: 'train' }], userFrame: 0 }),
);

/** A block of a line, by the step that allocated it. */
interface Kept {
  line: number;
  step: number;
  bytes: number;
}
/** What is alive at the end of a step. */
type KeptAt = (step: number) => Kept[];

/** A program of so many steps; all is freed at its end. `now`: the step up to which the trace is read. */
class Steps extends FakeTrace {
  private readonly alive: FakeAllocation[];
  constructor(
    private readonly count: number,
    private readonly keptAt: KeptAt,
    private readonly now = count,
    private readonly holder: object | null = null,
    running: readonly Kept[] = [],
  ) {
    const levels = Array.from({ length: count }, (_, i) => levelOf(keptAt, i + 1));
    const of = { layer: 'tensor', process: 0, device: 0, liveBytes: 0 } as const;
    super(
      makeInfo({
        durationNs: (now + 0.9) * STEP_NS,
        totals: [makeTotals({ ...of, peakBytes: Math.max(...levels) + WITHIN })],
        steps: [{ process: 0, source: 'optimizer', count, lastEndNs: count * STEP_NS }] as never,
        answers: holder === null ? [] : ([{ process: 0, index: 0, timeNs: 0, complete: true }] as never),
      }),
    );
    this.alive = [...keptAt(now), ...running].map(({ line, step, bytes }, i) => {
      const fixed = { process: 0, thread: 0, layer: 'tensor', device: 0 } as const;
      return { ...fixed, site: line, address: BigInt(i + 1) << 20n, bytes, timeNs: (step - 0.5) * STEP_NS };
    });
  }
  override site(id: number) {
    return SITES.find(site => site.id === id) ?? null;
  }
  override ledgerSeries(): LedgerSeries {
    const last = Float64Array.from({ length: this.now }, (_, i) => i + 1);
    return { last, endNs: last.map(step => step * STEP_NS) } as unknown as LedgerSeries;
  }
  /** Two steps each. */
  override timeline(): Float64Array {
    const rows = Array.from({ length: this.count / 2 }, (_, i) => {
      const levels = [2 * i + 1, 2 * i + 2].map(step => levelOf(this.keptAt, step));
      return [(2 * i + 1) * STEP_NS, Math.min(...levels), Math.max(...levels) + WITHIN, levels[1]!];
    });
    return Float64Array.from(rows.flat());
  }
  override sites({ bornFromNs = 0, bornToNs = Infinity, ...query }: SiteQuery): SiteWindow {
    const born = this.alive.filter(({ timeNs }) => timeNs >= bornFromNs && timeNs < bornToNs);
    return new FakeTrace(this.info(), born, SITES).sites(query);
  }
  override answer(): Answer {
    const addresses = this.alive.map(({ address }) => `0x${address.toString(16)}`);
    const text = JSON.stringify({ ok: true, when: 'asked', holders: [{ ...this.holder, addresses }] });
    const blocks = this.alive.map(block => ({ ...block, known: true }));
    return { text, blocks } as unknown as Answer;
  }
}
const levelOf = (keptAt: KeptAt, step: number): number => keptAt(step).reduce((all, { bytes }) => all + bytes, MODEL);

/** In each step one block more, until `period` of them are freed together. */
const epochs =
  (period: number, line = 18): KeptAt =>
  step =>
    Array.from({ length: step % period }, (_, i) => ({ line, step: step - i, bytes: 2 * MB }));

function builtUp(count: number, keptAt: KeptAt, now: number, holder: object | null = null, running: Kept[] = []) {
  const whole = new Steps(count, keptAt);
  const tooth = toothBefore(whole, whole.info().totals[0]!, now * STEP_NS);
  const then = new Steps(count, keptAt, now, holder, running);
  return tooth && stepsBuildUp(then, { process: 0, device: 0 }, tooth);
}

const HOLDER = { path: 'train().total (its graph)', kind: 'local', file: FILE, line: 31, function: 'train' };

test('what grows over an epoch and is freed with it, epoch after epoch, builds up', () => {
  const found = builtUp(160, epochs(40), 79, HOLDER);
  assert.ok(found);
  assert.deepEqual([found.steps, found.times, found.place?.line], [39, 4, 31]);
  assert.equal(found.bytes, found.count * 2 * MB);
  assert.ok(found.count >= 38, `${found.count} of 39`);
  assertSentence(stepsBuildUpSentence(found));
  assertSentence(stepsBuildUpTitle(found));
  const span = { line: 14, column: 1, endLine: 14, endColumn: 9, before: 'loss', after: 'loss.detach()' };
  const fix = { ...span, adds: '.detach()', statement: 'total += loss.detach()' };
  assertSentence(stepsBuildUpSentence({ ...found, holder: { ...found.holder!, fix } }), 'the edit is known');
});

test('where no holder is known, the line that allocates is named, and nothing is advised', () => {
  const found = builtUp(160, epochs(40), 119);
  assert.ok(found);
  assert.equal(found.place?.line, 18);
  assertSentence(stepsBuildUpSentence(found));
});

test('one epoch, what grows without end, what is replaced, and a little of the peak build up to nothing', () => {
  const once: KeptAt = step => (step < 80 ? epochs(200)(step) : []);
  assert.equal(builtUp(160, once, 79), null);
  assert.equal(builtUp(160, epochs(1000), 159), null);
  const window: KeptAt = step => epochs(1000)(step).slice(0, 20);
  assert.equal(builtUp(160, window, 79), null);
  const little: KeptAt = step => epochs(40)(step).map(kept => ({ ...kept, bytes: MB / 8 }));
  assert.equal(builtUp(160, little, 79), null);
});

test('what is allocated at once at the begin of an epoch does not build up, however much of the peak it is', () => {
  const atOnce: KeptAt = step => {
    const since = step % 40;
    const buffer = { line: 25, step: step - since + 1, bytes: 100 * MB };
    return since === 0 ? [] : [buffer, ...epochs(40)(step).map(kept => ({ ...kept, bytes: MB }))];
  };
  assert.equal(builtUp(160, atOnce, 79), null);
});

test('wherever a step ends, the iterations that are done at the peak build up, and not what only some lines have allocated once more', () => {
  // A step ends behind the batch (line 25), whose graph (line 18) the next one makes.
  const graphLater: KeptAt = step => [
    ...epochs(40, 25)(step),
    ...epochs(40)(step)
      .slice(1)
      .map(kept => ({ ...kept, step: kept.step + 1 })),
  ];
  const inStep = (line: number): Kept => ({ line, step: 80, bytes: 2 * MB });
  const counts = (...running: Kept[]) => {
    const found = builtUp(160, graphLater, 79, null, running);
    return found && [found.count, found.bytes / MB, found.steps];
  };
  const [done, half] = [counts(inStep(18)), counts()];
  assert.deepEqual(
    [done, half],
    [
      [78, 156, 39],
      [76, 152, 38],
    ],
  );
});
