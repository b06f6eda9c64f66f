// Reads and judges the traces of a window, and answers the extension host and its pages.
import { t } from '@vscode/l10n';
import { resolveTraceTime } from '../report/documents/resolveTraceTime';
import { keptTracesFolder, keptTracesRoot } from '../capture/traces/folders';
import { keptTraceFile, pruneKeptTraces } from '../capture/traces/keptTraces';
import { reasonOf } from '../capture/traces/traceDirectory';
import { readJob, type ReadTraces } from '../jobs/readJob';
import { exportTrace } from '../exporters/exportTrace';
import { htmlChunks } from '../html/htmlFile';
import { writeWholeFrom } from '../files/files';
import { loadNative, type NativeAddon } from '../native/addon';
import { nameCells } from '../protocol/notebookCells';
import type { OfMoment } from '../protocol/requests/moment';
import { remembered } from '../base/maps';
import type {
  Engine,
  EngineMethod,
  EngineParams,
  EngineResult,
  FromEngine,
  Opening,
  OtherTrace,
  PageMethod,
  PageQuestion,
  ToEngine,
  TraceFacts,
} from '../protocol/requests/engineRequests';
import type { Answers, NamedTrace, PageModel } from './answers/answers';
import { compareAnswers } from './answers/compareAnswers';
import { timelineAnswers } from './answers/timelineAnswers';
import { traceAnswers } from './answers/traceAnswers';
import { verdictAnswers } from './answers/verdictAnswers';
import { FollowedTrace, type PushFacts } from './followedTrace';
import { Forecasts } from './forecasts';
import { noSlots } from './groupSlots';
import { linesOf, nameMoment } from './lineAnswers';
import { writeOomFiles } from './oomFiles';
import { tensorOf } from './tensor';

/** Figures that stand beside each other: they are of one moment. */
const FIGURES: readonly PageMethod[] = ['sites', 'stackTree', 'ledger', 'timeline', 'stackedTimeline', 'timelineSteps'];

type Handlers = { [M in EngineMethod]: (of: EngineParams<M>) => EngineResult<M> | Promise<EngineResult<M>> };

export class TraceEngine implements Engine {
  private readonly traces = new Map<number, Promise<FollowedTrace>>();
  private readonly forecasts = new Map<number, Forecasts>();
  private readonly slots = noSlots();
  private readonly jobs = new Map<string, ReadTraces>();
  private readonly exports = new Map<number, AbortController>();
  private readonly handlers: Handlers = {
    open: of => this.open(of),
    readToEnd: async ({ trace }) => (await this.traceOf(trace)).readToEnd(),
    readRest: async ({ trace, attached }) => (await this.traceOf(trace)).readRest(attached),
    findEnding: async ({ trace }) => (await this.traceOf(trace)).findEnding(),
    close: ({ trace }) => this.close(trace),
    late: async ({ trace, page, late }) => (await this.traces.get(trace))?.session.setLate(page, late),
    answer: of => this.answerPage(of),
    judge: async ({ trace }) => void (await (await this.traceOf(trace)).verdicts.verdictsNow()),
    findHolders: async ({ trace, finding }) => (await this.traceOf(trace)).verdicts.findHolders(finding),
    stopHolderSearch: async ({ trace, finding }) => (await this.traceOf(trace)).verdicts.stopHolderSearch(finding),
    lines: async ({ trace, paths, folders, moment }) => {
      const shown = await this.traceOf(trace);
      await shown.untilPushed(moment);
      return linesOf(shown, paths, folders, moment);
    },
    nameMoment: async ({ trace, moment }) => nameMoment(await this.traceOf(trace), moment),
    tensor: async ({ trace, pid, address }) => tensorOf(await this.traceOf(trace), pid, address),
    momentOf: async ({ trace, time }) => resolveTraceTime(time, (await this.traceOf(trace)).session.native),
    save: async ({ trace, file }) => save(await this.traceOf(trace), file),
    keep: async ({ trace, command, cwd }) => keep(await this.traceOf(trace), command, cwd),
    writeOomFiles: async ({ trace, folder }) => writeOomFiles(this.addon, folder, await this.traceOf(trace)),
    exportTrace: of => this.exportTrace(of),
    stopExport: ({ number }) => this.exports.get(number)?.abort(),
    maskSecrets: ({ commands }) => commands.map(words => this.addon.maskSecrets(words)),
    setRecording: ({ directory, on }) => this.addon.setRecording(directory, on),
    readJob: ({ folder, run }) =>
      readJob(
        folder,
        this.dist,
        run,
        remembered(this.jobs, folder, () => new Map()),
      ),
    closeJob: ({ folder }) => void this.jobs.delete(folder),
    problem: () => {
      const loaded = loadNative(this.dist);
      return 'error' in loaded ? loaded.error : null;
    },
  };

  /** @param send takes answers, and what is new */
  constructor(
    private readonly dist: string,
    private readonly send: (message: FromEngine) => void,
  ) {}

  async request<M extends EngineMethod>(method: M, params: EngineParams<M>): Promise<EngineResult<M>> {
    return this.handlers[method](params);
  }

  /** Never rejects: an error is a sentence. */
  async answer({ id, method, params }: ToEngine): Promise<void> {
    try {
      this.send({ type: 'answer', id, ok: true, value: await this.request(method, params) });
    } catch (error) {
      this.send({ type: 'answer', id, ok: false, sentence: reasonOf(error) });
    }
  }

  /** Throws a sentence where the native part does not load. */
  private get addon(): NativeAddon {
    const loaded = loadNative(this.dist);
    if ('error' in loaded) throw new Error(loaded.error);
    return loaded.addon;
  }

  private async traceOf(number: number): Promise<FollowedTrace> {
    const trace = await this.traces.get(number);
    if (trace === undefined) throw new Error(t('No trace is open.'));
    return trace;
  }

  private async open(of: Opening): Promise<TraceFacts> {
    this.close(of.trace);
    const push: PushFacts = (facts, change) =>
      this.send({ type: 'news', trace: of.trace, facts, ...(change && { change }) });
    const opened = FollowedTrace.open(this.addon, of, push, this.slots);
    this.traces.set(of.trace, opened);
    try {
      const trace = await opened;
      if (of.findsHolders) trace.verdicts.autoFindHolders(text => this.send({ type: 'log', text }));
      if (of.ended) void trace.showEnded().catch(() => undefined); // it was closed meanwhile
      return trace.facts;
    } catch (error) {
      this.traces.delete(of.trace);
      throw error;
    }
  }

  private close(number: number): void {
    const closed = this.traces.get(number);
    this.traces.delete(number);
    this.forecasts.get(number)?.cancel();
    this.forecasts.delete(number);
    void closed?.then(
      trace => trace.close(),
      () => undefined,
    );
  }

  private async answerPage({ method, params, others, ...own }: PageQuestion): Promise<unknown> {
    const { trace } = own;
    const shown = await this.traceOf(trace);
    if (FIGURES.includes(method)) await shown.untilPushed((params as OfMoment).moment);
    nameCells(shown.session.native.info());
    const forecasts = remembered(this.forecasts, trace, () => new Forecasts(this.dist, shown.session));
    const model: PageModel = { shown, traces: () => this.namedTraces([own, ...others]) };
    const answers: Answers = {
      forecast: query => forecasts.answer(query),
      cancelForecast: () => forecasts.cancel(),
      ...traceAnswers(model),
      ...timelineAnswers(model),
      ...compareAnswers(model),
      ...verdictAnswers(model),
    };
    // The bars of the cards are requested whenever figures are: those that the host has go with them.
    if (method === 'ledger') shown.pushInfo();
    return (answers[method] as (of: typeof params) => unknown)(params);
  }

  /** The first is the shown one. */
  private async namedTraces(requested: readonly OtherTrace[]): Promise<NamedTrace[]> {
    const found: NamedTrace[] = [];
    for (const [i, { trace: number, ...words }] of requested.entries()) {
      const trace = await this.traces.get(number)?.catch(() => undefined);
      if (trace !== undefined) found.push({ id: i === 0 ? 0 : number, ...words, trace });
    }
    return found;
  }

  private async exportTrace({
    trace,
    format,
    file,
    number,
  }: EngineParams<'exportTrace'>): Promise<EngineResult<'exportTrace'>> {
    const abort = new AbortController();
    this.exports.set(number, abort);
    try {
      const { path } = (await this.traceOf(trace)).session;
      const onProgress = (done: number): void => this.send({ type: 'progress', number, done });
      const watch = { signal: abort.signal, onProgress };
      const chunks =
        format === 'html'
          ? htmlChunks(send => new TraceEngine(this.dist, send), {
              ...{ dist: this.dist, path, redact: false, ...watch },
            })
          : exportTrace(this.addon, path, format, { fromNs: null, untilNs: null }, watch);
      await writeWholeFrom(file, chunks);
      return true;
    } catch (error) {
      if (abort.signal.aborted) return false;
      throw error;
    } finally {
      this.exports.delete(number);
    }
  }
}

/** Writes all that was recorded until now. */
async function save({ session: { native } }: FollowedTrace, file: string): Promise<void> {
  await native.settle();
  await native.save(file, '');
}

async function keep({ session: { native } }: FollowedTrace, command: readonly string[], cwd: string): Promise<string> {
  const file = keptTraceFile(keptTracesFolder(process.env, cwd), command, new Date());
  await native.save(file, '');
  pruneKeptTraces(keptTracesRoot(process.env));
  return file;
}
