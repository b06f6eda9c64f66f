import type { TraceSource } from '../../protocol/trace';
import type { Finding, Verdicts } from '../../protocol/verdicts';
import { survivorsOf, type Survivor } from '../series/survivors';
import { THRESHOLDS as T } from '../series/thresholds';
import { leaksToQuery } from './judgeTrace';

// The holders of leaks are known while the program runs: what the locals of its functions hold is gone at its end. So the program is
// queried automatically, once for each leak, as soon as that is certain. Where time ran out, it is queried again when it has run for twice
// as long; and where no holder was found or few rises were there to see, when the leak has risen four times as often: with two entries a
// list looks like one inside it.

/** Judging takes at most a third of the time of a run of a few seconds, and a smaller share of a longer run, down to a fiftieth. */
const [MOST_SHARE, LEAST_SHARE, MS_A_PART] = [3, 50, 3000];

/** How long (ms) a judging that took `busyMs` serves, in a run of so many ms. */
export function servesMs(busyMs: number, elapsedMs: number): number {
  return busyMs * Math.min(LEAST_SHARE, Math.max(MOST_SHARE, elapsedMs / MS_A_PART));
}

/** A query to a process that no user requested. */
export interface OwnQuestion {
  process: number;
  blocks: Survivor[];
  /** The program stands still for at most so long. */
  budgetMs: number;
  /** It has steps by its optimizer: at their ends graphs rest, and can be searched. */
  atStep: boolean;
}

/** What came of a question. */
export interface OwnAnswer {
  /** How long the program stood still (ms); null: that is not known. */
  pauseMs: number | null;
  /** Time ran out before all was searched, or a backward pass hid all. */
  cut: boolean;
}

/** From when on another question about a leak makes sense: both must have come. */
interface Retry {
  /** For so long the program has run. */
  elapsedMs: number;
  /** Steps in which the leak grew. */
  rises: number;
}

export class FirstLeaks {
  /** Leaks by `keyOf`. */
  private readonly retries = new Map<string, Retry>();
  /** By process: how long it was stopped, or may be by the query under way. */
  private readonly stoppedMs = new Map<number, number>();
  private readonly waiting = new Set<number>();

  /** @param elapsedMs for how long the program has run */
  constructor(
    private readonly source: TraceSource,
    private readonly canQuery: (process: number) => boolean,
    private readonly query: (question: OwnQuestion) => Promise<OwnAnswer>,
    private readonly elapsedMs: () => number,
  ) {}

  /** Queries the holders of leaks that were found now and whose holder, or its line, is unknown or is based on few rises. */
  check({ findings, sites }: Verdicts): void {
    for (const finding of leaksToQuery(findings)) {
      const unknown = (finding.holder?.line ?? null) === null;
      const rises = Math.max(...finding.sites.map(site => sites.get(site)?.rises ?? 0));
      const retry = this.retries.get(keyOf(finding));
      const thin = retry !== undefined && retry.rises < T.many;
      if (!unknown && !thin) continue;
      if (retry === undefined || (rises >= retry.rises && this.elapsedMs() >= retry.elapsedMs))
        this.queryHolders(finding, rises);
    }
  }

  private queryHolders(finding: Finding, rises: number): void {
    const { process } = finding;
    const key = keyOf(finding);
    const elapsedMs = this.elapsedMs();
    if (this.waiting.has(process) || !this.canQuery(process)) return;
    const before = this.stoppedMs.get(process) ?? 0;
    const budgetMs = Math.min(T.mostPauseMs, Math.floor(T.little * elapsedMs - before));
    if (budgetMs < T.leastPauseMs) return; // soon it may
    const blocks = survivorsOf(this.source, finding);
    if (blocks.length === 0) return;
    this.retries.set(key, { elapsedMs: 0, rises: Infinity });
    this.waiting.add(process);
    this.stoppedMs.set(process, before + budgetMs);
    const steps = this.source.info().steps.find(entry => entry.process === process);
    const question = { process, blocks, budgetMs, atStep: steps?.source === 'optimizer' };
    void this.query(question).then(({ pauseMs, cut }) => {
      this.stoppedMs.set(process, before + (pauseMs ?? budgetMs));
      this.waiting.delete(process);
      if (cut) this.retries.set(key, { elapsedMs: 2 * elapsedMs, rises: 0 });
      else if (rises < T.many)
        this.retries.set(key, { elapsedMs: 0, rises: Math.min(T.times * Math.max(1, rises), T.many) });
    });
  }
}

/** The same for the processes of a job: the one that names their leak may change. */
function keyOf({ layer, place, library, sites }: Finding): string {
  return place === null ? `${layer} ${library ?? sites.join()}` : `${layer} ${place.file}:${place.line}`;
}
