import { t } from '@vscode/l10n';
import { formatCount } from '../../text/format';
import type { Layer, Pool, StepAxis, TraceInfo } from '../../protocol/trace';
import { STEP_DRIVER_GAP, STEP_LOST_EVENTS, STEP_PAUSED } from '../../protocol/trace';
import type { SiteVerdict } from '../../protocol/verdicts';
import type { SiteSteps } from '../series/siteSeries';
import { drift, fewestRecords } from '../series/records';
import { at, median, sum } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { rising, stateVerdict, tooEarlyText } from './states';

// What one site's series does not show: what is missing from the trace, and what the other sites do.

/** Entries until what one made is old, so that the first whole one is not measured with it. */
const MADE_OLD = 2;

/** First entry that counts: in those before, or in one of them, events are missing. */
export function firstWhole(axis: StepAxis, layer: Layer): number {
  const missing = STEP_PAUSED | STEP_LOST_EVENTS | (layer === 'tensor' ? 0 : STEP_DRIVER_GAP);
  for (let i = axis.flags.length - 1; i >= 0; i--) if ((at(axis.flags, i) & missing) !== 0) return i + MADE_OLD;
  return 0;
}

export interface Context {
  axis: StepAxis;
  sites: readonly SiteSteps[];
  /** Entries before the first whole one: they were left out. */
  cut: number;
  /** The program: no more steps come. */
  ended: boolean;
  /** Of all events, those that were lost in no known step. */
  lostShare: number;
  /** How long the program continued behind a short loop, in rounds. */
  idleRounds: number;
  /** ... and that was as long as the loop itself. */
  outlasted: boolean;
  /** In a loop, one line alone allocates, as when weights are loaded; too few rounds have passed to rule that out. */
  loads: boolean;
  /** In most of its few rounds a CUDA graph was captured, as is done once for each shape. */
  captures: boolean;
  /** ... or may have been: it took memory of which it is not known yet whether captured graphs have it. */
  unlisted: boolean;
  /** The rounds of a loop have no backward pass, and the program has some: they may be parts of a step. */
  parts: boolean;
}

type LoopFacts = Pick<Context, 'idleRounds' | 'outlasted' | 'loads' | 'captures' | 'unlisted' | 'parts'>;

/** What a loop that nothing names may be instead of steps. */
export function loopFacts(axis: StepAxis, info: TraceInfo, pools: readonly Pool[]): LoopFacts {
  const steps = info.steps.find(({ process }) => process === axis.process);
  if (axis.source !== 'periodic' || steps === undefined)
    return { idleRounds: 0, outlasted: false, loads: false, captures: false, unlisted: false, parts: false };
  const ended = info.processes[axis.process]?.ended ?? true;
  const loads = steps.alone && !steps.sure && (!ended || axis.count < T.many);
  const graphs = pools.filter(({ process, kind }) => process === axis.process && kind === 'graph');
  const captured = sum(graphs.map(({ makers }) => makers));
  const isShort = axis.count < T.many;
  const listedRounds = steps.poolsNs === 0 ? axis.count : roundsUntil(axis, steps.poolsNs);
  const captures = isShort && captured >= T.few && captured >= T.most * listedRounds;
  const unlisted = isShort && !ended && listedRounds < T.few;
  return { ...idleRounds(axis, steps.idleNs), loads, captures, unlisted, parts: steps.parts };
}

/** Rounds that had ended by then. */
function roundsUntil({ last, endNs }: StepAxis, ns: number): number {
  const ended = endNs.findLastIndex(end => end <= ns);
  return ended < 0 ? 0 : at(last, ended);
}

/** Whether what is taken for steps may be a set-up, or parts of a step. */
export const isNoStep = ({ idleRounds, loads, captures, unlisted, parts }: LoopFacts): boolean =>
  idleRounds > T.few || loads || captures || unlisted || parts;

/** Rounds of a loop behind which the program continued may have been a set-up; where it continued for longer than they took, they were one. */
function idleRounds({ endNs, count }: StepAxis, idleNs: number): Pick<Context, 'idleRounds' | 'outlasted'> {
  if (count >= T.many || endNs.length < 2) return { idleRounds: 0, outlasted: false };
  const rounds = [...endNs].slice(1).map((end, i) => end - at(endNs, i));
  const loopNs = sum(rounds.slice(0, -1)); // the newest one lasts until the end
  return { idleRounds: idleNs / Math.max(1, median(rounds)), outlasted: idleNs >= loopNs };
}

/** Share of the trace's events that were lost without a step that they are known to be from. */
export function lostShareOf(info: TraceInfo): number {
  if (info.lost.events === 0 || info.steps.some(steps => steps.touched > 0)) return 0;
  return info.lost.events / (info.lost.events + info.events);
}

/** Takes back or weakens what a site's series alone shows of growth. */
export function inContext(verdict: SiteVerdict, site: SiteSteps, context: Context): SiteVerdict {
  if (verdict.state === 'growing') return growthInContext(verdict, site, context);
  if (context.cut > 0 && verdict.state === 'unknown') {
    const missing = context.cut - MADE_OLD;
    const [since, flags] = [at(context.axis.last, missing), at(context.axis.flags, missing)];
    const because =
      (flags & STEP_PAUSED) !== 0
        ? t('Recording was paused until step {0}. {1}', since, verdict.because)
        : t('Events up to step {0} are missing. {1}', since, verdict.because);
    return { ...verdict, because };
  }
  return verdict;
}

function growthInContext(verdict: SiteVerdict, site: SiteSteps, context: Context): SiteVerdict {
  if (context.outlasted && context.idleRounds > T.few * (verdict.period ?? 1)) {
    const because = t('It grew in the first {0} loop iterations and then stopped, so it was setup.', verdict.rises);
    return stateVerdict(verdict, 'plateau', because);
  }
  const last = at(site.steps, site.steps.length - 1);
  const lasted = last - (verdict.sinceStep ?? last);
  const events = lasted / Math.max(1, verdict.period ?? 1);
  const risen = riseSince(verdict.sinceStep, site);
  if (context.lostShare > T.rare) {
    const share = `${(100 * context.lostShare).toFixed(0)}%`;
    const because = t(
      'It seems to grow, but {0} of the events were dropped. Only a run without dropped events can be judged.',
      share,
    );
    return stateVerdict(verdict, 'unknown', because);
  }
  if (context.axis.source === 'time' && (lasted < T.timeSlices || events < T.part * T.timeSlices)) {
    const because = t('It is growing. Without training steps, a verdict takes longer.');
    return rising(stateVerdict(verdict, 'unknown', because), verdict.rises, risen);
  }
  const noStep = noStepBecause(verdict, context);
  if (noStep !== null) return rising(stateVerdict(verdict, 'unknown', noStep), verdict.rises, risen);
  const needed = builtUpFactor(verdict, site, context.sites) * fewestRecords();
  // Between two layers of one model nothing is trained; between two models there is.
  if (events < needed && context.axis.source === 'optimizer' && (verdict.period ?? 1) >= T.few)
    return { ...verdict, models: true };
  if (events < needed) {
    const more = Math.ceil(needed * (verdict.period ?? 1) - lasted);
    const because = context.ended
      ? t('It may be the model being built, not a leak. {0}', tooEarlyText(more))
      : t('It is growing, but it may be the model being built. A verdict needs {0} more steps.', formatCount(more));
    return rising(stateVerdict(verdict, 'unknown', because), verdict.rises, risen);
  }
  if (verdict.grows === 'size' && inputsGrow(site, context.sites)) {
    return stateVerdict(verdict, 'transient', t('It follows the inputs, which keep getting longer.'));
  }
  const sure = (context.axis.source === 'time' ? 1 - T.part : 1) * (1 - context.lostShare);
  return { ...verdict, confidence: sure * verdict.confidence };
}

/** Why the rounds in which it grew may be no steps; null: there is no sign of that. */
function noStepBecause(
  { rises, period }: SiteVerdict,
  { idleRounds, loads, captures, unlisted, parts }: LoopFacts,
): string | null {
  if (parts)
    return t(
      'These iterations have no backward pass, although the program has some, so they may be parts of one training step. Mark each step with gpu_memtrace.step() (Python package) to find out.',
    );
  if (idleRounds > T.few * (period ?? 1))
    return t('It grew in {0} loop iterations and then stopped, so it may have been setup.', rises);
  if (captures)
    return t('It grows in a loop that captures CUDA graphs, which most programs do only once per input shape.');
  if (unlisted)
    return t(
      'It grows in a loop that has just started and may capture CUDA graphs, which most programs do only once per input shape.',
    );
  return loads
    ? t(
        'Only this line allocates in the loop, as when weights or data are loaded. If each iteration is a step, mark it with gpu_memtrace.step() (Python package) to find out.',
      )
    : null;
}

/** How many times the events it takes where a model could be built up, layer after layer, or be copied; 0: it is none. */
function builtUpFactor(verdict: SiteVerdict, site: SiteSteps, sites: readonly SiteSteps[]): number {
  if (ofTraining(site)) return T.few;
  if (site.category !== 'parameter' && site.category !== 'buffer') return 0;
  const rise = riseSince(verdict.sinceStep, site);
  const trained = sites.some(
    other =>
      ofTraining(other) &&
      other.process === site.process &&
      other.layer === site.layer &&
      riseSince(verdict.sinceStep, other) >= T.part * rise,
  );
  return trained ? T.few : 1 + T.part;
}

function ofTraining({ category }: SiteSteps): boolean {
  return category === 'gradient' || category === 'optimizer';
}

/** Bytes by which more live at the last step's end than at that of the step before `step`. */
export function riseSince(step: number | null, { steps, liveBytes }: SiteSteps): number {
  const before = steps.findLastIndex(each => each < (step ?? 0));
  return at(liveBytes, liveBytes.length - 1) - (before < 0 ? 0 : at(liveBytes, before));
}

/** Many of the lines that work all the time allocate more and more: what grows is the work. */
function inputsGrow(site: SiteSteps, sites: readonly SiteSteps[]): boolean {
  const from = Math.max(0, site.steps.length - T.many);
  let [working, rising] = [0, 0];
  for (const other of sites) {
    if (other.site === site.site || other.process !== site.process || other.layer !== site.layer) continue;
    const bytes = other.stepAllocatedBytes.slice(from);
    if (bytes.filter(value => value > 0).length < (1 - T.part) * bytes.length) continue;
    working++;
    if (drift(bytes) >= T.drift) rising++;
  }
  return rising >= 2 && rising >= T.part * working;
}
