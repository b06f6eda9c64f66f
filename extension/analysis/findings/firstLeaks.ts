import type { TraceSource } from '../../protocol/trace';
import type { Finding, Verdicts } from '../../protocol/verdicts';
import { survivorsOf, type Survivor } from '../series/survivors';
import { THRESHOLDS as T } from '../series/thresholds';
import { sureLeaks } from './verdicts';

// Who holds what leaks is known while the program runs: what the locals of its functions hold is gone at its end. So it is asked by
// itself, once for each leak, as soon as that is certain.

/** What a process is asked by itself. */
export interface OwnQuestion {
  process: number;
  blocks: Survivor[];
  /** The program stands still for at most so long. */
  budgetMs: number;
  /** It has steps by its optimizer: at their ends graphs rest, and can be looked at. */
  atStep: boolean;
}

export class FirstLeaks {
  /** Leaks by `keyOf`: each is asked about once, whatever comes of it. */
  private readonly asked = new Set<string>();
  /** By process: how long it was stopped, or may be by what is asked now. */
  private readonly stoppedMs = new Map<number, number>();
  private readonly waiting = new Set<number>();

  /**
   * @param ask asks, and gives how long the program stood still (ms); null: that is not known
   * @param elapsedMs for how long the program has run
   */
  constructor(
    private readonly source: TraceSource,
    private readonly canAsk: (process: number) => boolean,
    private readonly ask: (question: OwnQuestion) => Promise<number | null>,
    private readonly elapsedMs: () => number,
  ) {}

  /** Asks about leaks that were found now and whose holder is not known. */
  look({ findings }: Verdicts): void {
    for (const finding of sureLeaks(findings)) if (finding.holder === null) this.askAbout(finding);
  }

  private askAbout(finding: Finding): void {
    const { process } = finding;
    const key = keyOf(finding);
    if (this.asked.has(key) || this.waiting.has(process) || !this.canAsk(process)) return;
    const before = this.stoppedMs.get(process) ?? 0;
    const budgetMs = Math.min(T.askMostMs, Math.floor(T.askShare * this.elapsedMs() - before));
    if (budgetMs < T.askLeastMs) return; // soon it may
    const blocks = survivorsOf(this.source, finding);
    if (blocks.length === 0) return;
    this.asked.add(key);
    this.waiting.add(process);
    this.stoppedMs.set(process, before + budgetMs);
    const steps = this.source.info().steps.find(entry => entry.process === process);
    const question = { process, blocks, budgetMs, atStep: steps?.source === 'optimizer' };
    void this.ask(question).then(tookMs => {
      this.stoppedMs.set(process, before + (tookMs ?? budgetMs));
      this.waiting.delete(process);
    });
  }
}

/** The same for the processes of a job: what their leak is told by may change. */
function keyOf({ layer, place, library, sites }: Finding): string {
  return place === null ? `${layer} ${library ?? sites.join()}` : `${layer} ${place.file}:${place.line}`;
}
