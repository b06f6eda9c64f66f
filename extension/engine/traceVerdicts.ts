// Verdicts on the memory of one trace: findings as the page shows them, and queries for their holders to the traced process.
import { setTimeout as sleep } from 'node:timers/promises';
import { t } from '@vscode/l10n';
import { findingSpark } from '../analysis/findings/findingSpark';
import { FirstLeaks, type OwnAnswer, type OwnQuestion } from '../analysis/findings/firstLeaks';
import { recordedHolders, readHolderAnswer, timeOf } from '../analysis/findings/kinds/holderAnswers';
import { occasionText } from '../analysis/findings/kinds/holderOccasion';
import { otherLines, rowVerdicts } from '../analysis/findings/rowVerdicts';
import { overallVerdict } from '../analysis/sites/overallVerdict';
import { aliveOf, survivorsOf, tensorAt } from '../analysis/series/survivors';
import { besideFound, queryProcess, refusalOf, type Reader } from '../capture/traces/requests';
import type { NativeTrace } from '../native/addon';
import type { BlockQuery } from '../protocol/requests/blockRequests';
import type {
  FindingsView,
  Inquiry,
  OtherLine,
  RowVerdict,
  VerdictGrouping,
} from '../protocol/requests/verdictRequests';
import type { TraceSource } from '../protocol/trace';
import type { Finding, Verdicts } from '../protocol/verdicts';
import { whenHeld } from '../report/tables/ending';
import { Judge } from './judge';

/** How long a busy process is waited for. */
const PATIENCE_MS = 60_000;
/** The page waits for an answer about one block, for 20 s. */
const BLOCK_PATIENCE_MS = 15_000;

interface HolderSearch {
  holders: Inquiry | null;
  /** Ends the waiting for the query under way. */
  stop: AbortController;
}

export class TraceVerdicts {
  private readonly judge: Judge;
  private readonly searches = new Map<string, HolderSearch>();
  private readonly closing = new AbortController();
  private leaks: FirstLeaks | null = null;
  /** Waits for answers as everybody does: to read more for them would show some figures of a later moment than the others. */
  private readonly still: Reader = { info: () => this.source.info(), answer: query => this.source.answer(query) };

  /**
   * @param directory where the trace is recorded; null: it is a file
   * @param changed something was judged anew, the process was queried, or it answered
   */
  constructor(
    private readonly source: NativeTrace,
    private readonly directory: string | null,
    private readonly changed: () => void,
  ) {
    this.judge = new Judge(source, () => {
      changed();
      if (this.latest !== null) this.leaks?.check(this.latest);
    });
  }

  /** From here on the holders of each leak are queried automatically, the first time that it is certain. */
  autoFindHolders(log: (line: string) => void): void {
    const begun = performance.now();
    const query = async ({ process, ...words }: OwnQuestion): Promise<OwnAnswer> => {
      const patience = { limitMs: PATIENCE_MS, signal: this.closing.signal };
      const result = await queryProcess(this.still, this.directory, process, words, patience);
      const took = timeOf(result);
      log(`searched for holders of leaks: ${'sentence' in result ? result.sentence : `${took.pauseMs} ms`}`);
      return took;
    };
    const canQuery = (process: number): boolean => this.queryRefusal({ process }) === null;
    this.leaks = new FirstLeaks(this.source, canQuery, query, () => performance.now() - begun);
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
      heldWhen: whenHeld(this.source, finding),
      queryable: this.queryRefusal(finding) === null,
      holders: this.searches.get(finding.id)?.holders ?? null,
    }));
    const info = this.source.info();
    return { stale, revision: info.revision, findings, ...overallVerdict(info, verdicts) };
  }

  async rows(sites: readonly number[], groupBy: VerdictGrouping): Promise<RowVerdict[]> {
    return rowVerdicts(this.source, (await this.judge.verdictsNow()).verdicts, sites, groupBy);
  }

  /** @param shown the trace at the moment that is shown */
  async otherLines(id: string, shown: TraceSource): Promise<OtherLine[]> {
    const { verdicts } = await this.judge.verdictsNow();
    return otherLines(this.source, verdicts, this.find(id), shown);
  }

  /** Throws a sentence where it is none of the findings any more. */
  find(id: string): Finding {
    const finding = this.judge.latest?.findings.find(entry => entry.id === id);
    if (finding === undefined) throw new Error(t('This finding no longer exists, because memory has changed since.'));
    return finding;
  }

  /** One sentence on why the process of a finding cannot be queried now; null: it can. */
  queryRefusal({ process }: Pick<Finding, 'process'>): string | null {
    const info = this.source.info();
    return refusalOf(info, info.processes[process], this.directory);
  }

  /** Queries the holders of a finding's survivors; where the process cannot answer, the recorded ones are given. */
  findHolders(id: string): Promise<Inquiry> {
    const finding = this.find(id);
    const search = this.begin(id);
    const pid = this.pidOf(finding);
    const sentence = t('Querying process {0}…', pid);
    this.show(search, { state: 'asking', sentence, results: [] });
    return this.queryHolders(finding, search.stop.signal).then(holders => {
      this.show(search, holders);
      return holders;
    });
  }

  private show(search: HolderSearch, holders: Inquiry): void {
    search.holders = holders;
    this.changed();
  }

  /** Queries one block: null once the trace holds the answer, else one sentence. */
  async inspectBlock({ process, address }: BlockQuery): Promise<string | null> {
    const refusal = this.queryRefusal({ process });
    if (refusal !== null) return refusal;
    const found = tensorAt(this.source, process, BigInt(address));
    if (found === null) return t('The block has been freed.');
    const patience = { limitMs: BLOCK_PATIENCE_MS };
    const result = await queryProcess(this.still, this.directory, process, { blocks: [found.block] }, patience);
    return 'sentence' in result ? result.sentence : null;
  }

  private pidOf({ process }: Finding): number {
    return this.source.info().processes[process]?.pid ?? 0;
  }

  private async queryHolders(finding: Finding, signal: AbortSignal): Promise<Inquiry> {
    const refusal = this.queryRefusal(finding);
    if (refusal !== null) return this.recorded(finding, refusal);
    const blocks = survivorsOf(this.source, finding);
    if (blocks.length === 0) return refused(t('None of its blocks are alive now.'));
    const patience = { limitMs: PATIENCE_MS, signal };
    const result = await queryProcess(this.still, this.directory, finding.process, { blocks }, patience);
    if (signal.aborted) return refused(t('Stopped waiting.'));
    if ('sentence' in result) return this.recorded(finding, result.sentence);
    const found = readHolderAnswer(result.answer, finding.sites, {
      queried: blocks.length,
      alive: aliveOf(this.source, finding, blocks),
    });
    if (!('holders' in found)) return refused(found.sentence);
    return { state: 'answered', sentence: found.sentence, results: found.holders };
  }

  /** What the trace has of it. `why`: the process is not queried. */
  private recorded({ process, sites, count }: Finding, why: string): Inquiry {
    const recorded = recordedHolders(this.source, process, sites);
    if (recorded === null) return refused(`${why} ${t('The trace has no earlier answer.')}`);
    const sentence = besideFound(occasionText(recorded, count), why);
    return { state: 'answered', sentence, results: recorded.holders };
  }

  /** Waits no longer for the query about a finding. */
  stopHolderSearch(id: string): void {
    this.searches.get(id)?.stop.abort();
  }

  private begin(id: string): HolderSearch {
    const before = this.searches.get(id);
    if (before?.holders?.state === 'asking') throw new Error(t('The program is already being queried.'));
    const search = { holders: null, ...before, stop: new AbortController() };
    this.searches.set(id, search);
    return search;
  }

  close(): void {
    this.judge.close();
    this.closing.abort();
    for (const search of this.searches.values()) search.stop.abort();
  }
}

function refused(sentence: string): Inquiry {
  return { state: 'refused', sentence: sentence.trim(), results: [] };
}
