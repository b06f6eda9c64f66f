// What is said of the memory of one trace: findings as the page shows them, and what the traced process is asked about them.
import { setTimeout as sleep } from 'node:timers/promises';
import { t } from '@vscode/l10n';
import { findingSpark } from '../analysis/findings/findingSpark';
import { FirstLeaks, type OwnAnswer, type OwnQuestion } from '../analysis/findings/firstLeaks';
import { occasionText, recordedHolders, readHolderAnswer, timeOf } from '../analysis/findings/holderAnswers';
import { otherLines, rowVerdicts } from '../analysis/findings/rowVerdicts';
import { standingOf } from '../analysis/sites/standing';
import { aliveOf, survivorsOf, tensorAt } from '../analysis/series/survivors';
import { queryProcess, refusalOf, type Reader } from '../capture/traces/requests';
import type { NativeTrace } from '../native/addon';
import type { BlockQuery } from '../protocol/requests/blockRequests';
import type {
  FindingsView,
  Inquiry,
  OtherLine,
  RowVerdict,
  VerdictGrouping,
} from '../protocol/requests/verdictRequests';
import type { Finding, Verdicts } from '../protocol/verdicts';
import { Judge } from './judge';

/** How long a busy process is waited for. */
const PATIENCE_MS = 60_000;
/** The page waits for an answer about one block, for 20 s. */
const BLOCK_PATIENCE_MS = 15_000;

interface Asked {
  holders: Inquiry | null;
  /** Ends the waiting for what is asked now. */
  stop: AbortController;
}

export class TraceVerdicts {
  private readonly judge: Judge;
  private readonly asked = new Map<string, Asked>();
  private readonly closing = new AbortController();
  private leaks: FirstLeaks | null = null;
  /** Waits for answers as everybody does: to read more for them would show some figures of a later moment than the others. */
  private readonly still: Reader = { info: () => this.source.info(), answer: query => this.source.answer(query) };

  /**
   * @param directory where the trace is recorded; null: it is a file
   * @param changed something was judged anew, something was asked of the process, or it answered
   */
  constructor(
    private readonly source: NativeTrace,
    private readonly directory: string | null,
    private readonly changed: () => void,
  ) {
    this.judge = new Judge(source, () => {
      changed();
      if (this.latest !== null) this.leaks?.look(this.latest);
    });
  }

  /** From here on the program is asked by itself who holds what leaks, the first time that this is certain. */
  askOnFirstLeak(log: (line: string) => void): void {
    const begun = performance.now();
    const question = async ({ process, ...words }: OwnQuestion): Promise<OwnAnswer> => {
      const patience = { limitMs: PATIENCE_MS, signal: this.closing.signal };
      const result = await queryProcess(this.still, this.directory, process, words, patience);
      const took = timeOf(result);
      log(`asked who holds what leaks: ${'sentence' in result ? result.sentence : `${took.pauseMs} ms`}`);
      return took;
    };
    const canAsk = (process: number): boolean => this.cannotAsk({ process }) === null;
    this.leaks = new FirstLeaks(this.source, canAsk, question, () => performance.now() - begun);
  }

  /** The verdicts of this moment or of a moment ago. Rejects when the trace is closed. */
  verdictsNow(): Promise<{ verdicts: Verdicts; stale: boolean }> {
    return this.judge.verdictsNow();
  }

  /** Resolves when judging anew is worth it. */
  async due(): Promise<void> {
    await sleep(this.judge.dueInMs + 1, undefined, { signal: this.closing.signal });
  }

  /** What was judged last; null: nothing yet. */
  get latest(): Verdicts | null {
    return this.judge.latest;
  }

  async findings(): Promise<FindingsView> {
    const { verdicts, stale } = await this.judge.verdictsNow();
    const findings = verdicts.findings.map(finding => ({
      ...finding,
      spark: findingSpark(this.source, finding),
      askable: this.cannotAsk(finding) === null,
      holders: this.asked.get(finding.id)?.holders ?? null,
    }));
    return { stale, findings, ...standingOf(this.source.info(), verdicts) };
  }

  async rows(sites: readonly number[], groupBy: VerdictGrouping): Promise<RowVerdict[]> {
    return rowVerdicts(this.source, (await this.judge.verdictsNow()).verdicts, sites, groupBy);
  }

  async otherLines(id: string): Promise<OtherLine[]> {
    const { verdicts } = await this.judge.verdictsNow();
    return otherLines(this.source, verdicts, this.find(id));
  }

  /** Throws a sentence where it is none of the findings any more. */
  find(id: string): Finding {
    const finding = this.judge.latest?.findings.find(entry => entry.id === id);
    if (finding === undefined) throw new Error(t('This finding is gone: memory has changed since.'));
    return finding;
  }

  /** One sentence on why the process of a finding cannot be asked now; null: it can. */
  cannotAsk({ process }: Pick<Finding, 'process'>): string | null {
    const info = this.source.info();
    return refusalOf(info, info.processes[process], this.directory);
  }

  /** Asks who holds a finding's survivors; where the process cannot tell, what was recorded is told. */
  whoHolds(id: string): Promise<Inquiry> {
    const finding = this.find(id);
    const asked = this.begin(id);
    const pid = this.pidOf(finding);
    const sentence = t('Asking process {0}; it answers between two of its Python instructions…', pid);
    this.show(asked, { state: 'asking', sentence, results: [] });
    return this.askHolders(finding, asked.stop.signal).then(holders => {
      this.show(asked, holders);
      return holders;
    });
  }

  private show(asked: Asked, holders: Inquiry): void {
    asked.holders = holders;
    this.changed();
  }

  /** Asks about one block: null once the trace holds the answer, else one sentence. */
  async askBlock({ process, address }: BlockQuery): Promise<string | null> {
    const refusal = this.cannotAsk({ process });
    if (refusal !== null) return refusal;
    const found = tensorAt(this.source, process, BigInt(address));
    if (found === null) return t('The block is freed.');
    const patience = { limitMs: BLOCK_PATIENCE_MS };
    const result = await queryProcess(this.still, this.directory, process, { blocks: [found.block] }, patience);
    return 'sentence' in result ? result.sentence : null;
  }

  private pidOf({ process }: Finding): number {
    return this.source.info().processes[process]?.pid ?? 0;
  }

  private async askHolders(finding: Finding, signal: AbortSignal): Promise<Inquiry> {
    const refusal = this.cannotAsk(finding);
    if (refusal !== null) return this.recorded(finding, refusal);
    const blocks = survivorsOf(this.source, finding);
    if (blocks.length === 0) return refused(t('None of its blocks is alive now.'));
    const patience = { limitMs: PATIENCE_MS, signal };
    const result = await queryProcess(this.still, this.directory, finding.process, { blocks }, patience);
    if (signal.aborted) return refused(t('Stopped waiting.'));
    if ('sentence' in result) return this.recorded(finding, result.sentence);
    const found = readHolderAnswer(result.answer, finding.sites, {
      asked: blocks.length,
      alive: aliveOf(this.source, finding, blocks),
    });
    if (!('holders' in found)) return refused(found.sentence);
    return { state: 'answered', sentence: found.sentence, results: found.holders };
  }

  /** What the trace has of it. `why`: the process is not asked. */
  private recorded({ process, sites }: Finding, why: string): Inquiry {
    const recorded = recordedHolders(this.source, process, sites);
    if (recorded === null) return refused(`${why} ${t('The trace holds no earlier answer.')}`);
    const sentence = `${why} ${occasionText(recorded)}`;
    return { state: 'answered', sentence, results: recorded.holders };
  }

  /** Waits no longer for what was asked about a finding. */
  stopAsking(id: string): void {
    this.asked.get(id)?.stop.abort();
  }

  private begin(id: string): Asked {
    const before = this.asked.get(id);
    if (before?.holders?.state === 'asking') throw new Error(t('The program is being asked already.'));
    const asked = { holders: null, ...before, stop: new AbortController() };
    this.asked.set(id, asked);
    return asked;
  }

  close(): void {
    this.judge.close();
    this.closing.abort();
    for (const asked of this.asked.values()) asked.stop.abort();
  }
}

function refused(sentence: string): Inquiry {
  return { state: 'refused', sentence: sentence.trim(), results: [] };
}
