import { isatty } from 'node:tty';
import { type FitFacts, fitText } from '../fit/fitText';
import { fitter, hasSize, type FitRun, readFitRun } from '../fit/fitRun';
import { type Change, keyOf, UNCHANGED } from '../fit/forecast';
import { closeTrace } from '../jobs/openTraceFile';
import type { NativeAddon } from '../native/addon';
import { formatCount } from '../text/format';
import type { FitArguments } from './arguments/fitArguments';
import { openNamed } from './namedTrace';
import { print, refuse } from './output/output';
import { writeResult } from './output/resultFile';
import { jsonChunks } from './report/jsonChunks';

const FAILED = 1;
const TOO_BIG = 3;
/** Allocations whose replay takes more than a few seconds. */
const MANY = 200_000;

/** What `fit` answers; the JSON document as it stands. */
export interface FitAnswer extends FitFacts {
  version: 1;
  pid: number;
  device: number;
}

/** Says whether a run would fit. Returns the exit status: 0, 3 where what was requested does not fit, or 1. */
export async function fit(options: FitArguments, dist: string): Promise<number> {
  const answer = await fitAnswer(options, dist);
  if ('error' in answer) return refuse(answer.error, FAILED);
  if (options.format === 'json') writeResult(jsonChunks(answer), null);
  else print(fitText(answer));
  return answer.requested?.fits === false ? TOO_BIG : 0;
}

/** The error is one sentence. */
export async function fitAnswer(options: FitArguments, dist: string): Promise<FitAnswer | { error: string }> {
  const { where, other, batches, gpuBytes } = options;
  const base = await openRun(where, dist);
  if ('error' in base) return base;
  const second = other === null ? null : await openRun(other, dist);
  if (second !== null && 'error' in second) return second;
  const { pid, device } = base.totals;
  if (gpuBytes === null && !hasSize(base))
    return { error: `${where} does not have the size of its GPU: give it, such as --gpu 80GiB.` };
  const runs = second === null ? [base] : [base, second];
  const facts = fitter(base.addon, { trace: where, runs, batches, gpuBytes })(batch => requested(options, batch));
  if ('error' in facts) return { error: `--allocator: ${facts.error} is not an option that can be replayed.` };
  const [absent] = facts.requested?.absent ?? [];
  if (absent !== undefined) return { error: absentText(options, absent) };
  return { version: 1, pid, device, ...facts };
}

async function openRun(where: string, dist: string): Promise<(FitRun & { addon: NativeAddon }) | { error: string }> {
  const opened = await openNamed(where, dist);
  if ('error' in opened) return opened;
  const { addon, session: source, trace, processes } = opened;
  try {
    const run = await readFitRun(addon, { name: where, path: trace.path, source, processes }, allocations => {
      if (allocations > MANY && isatty(2)) print([`Replaying ${formatCount(allocations)} allocations …`], 2);
    });
    return 'error' in run ? run : { addon, ...run };
  } finally {
    closeTrace(opened);
  }
}

/** What was requested changes nothing in this run. */
function absentText({ checkpoint, parts, freedLine }: FitArguments, absent: keyof Change): string {
  const texts: Partial<Record<keyof Change, string>> = {
    checkpoint: `--checkpoint ${checkpoint}: no module of the run has such a path.`,
    parts: `--accumulate ${parts}: the run has no gradients that stay until an optimizer step.`,
    freedLine: `--free ${freedLine}: nothing that this line allocated outlives its step.`,
    stateShare: '--optimizer-states: the run has no states of an optimizer.',
    oneByOne: '--no-foreach: the optimizer of the run frees nothing that it makes.',
    halfParameters: '--bf16-parameters: the run has no parameters.',
    gradientsFreed: '--set-to-none: the run has no gradients that stay from step to step.',
    ranks: '--fsdp: the run has no list of modules, such as layers, that ranks could gather one by one.',
  };
  return texts[absent] ?? '';
}

function requested(options: FitArguments, batch: number | null): Change | null {
  const { tried, checkpoint, allocator, parts, stateShare } = options;
  const { oneByOne, halfParameters, gradientsFreed, freedLine, ranks } = options;
  const change = {
    checkpoint,
    allocator,
    parts,
    stateShare,
    oneByOne,
    halfParameters,
    gradientsFreed,
    freedLine,
    ranks,
  };
  const factor = tried === null || batch === null ? 1 : tried / batch;
  const isAny = tried !== null || keyOf({ ...change, factor }) !== keyOf(UNCHANGED);
  return isAny ? { ...change, factor } : null;
}
