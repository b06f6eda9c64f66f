// Sends an engine all that the page of a trace may request, and keeps the answers.
import { statSync } from 'node:fs';
import { t } from '@vscode/l10n';
import { scriptName } from '../capture/traces/keptTraces';
import { baseName } from '../text/format';
import type {
  Engine,
  FromEngine,
  PageMethod,
  PageQuestion,
  PageRequests,
  TraceFacts,
} from '../protocol/requests/engineRequests';
import { NO_SESSION, type Params, type SessionView } from '../protocol/requests/messages';
import type { Moment, OfMoment } from '../protocol/requests/moment';
import { MAX_VERDICTS } from '../protocol/requests/verdictRequests';
import { STACK_BY, STACK_RANKS, type PeakReading, type Scope } from '../protocol/requests/timelineRequests';
import { distinctMoments, recordedKey } from '../protocol/requests/recorded';
import { marksOf } from '../protocol/marks';
import {
  CATEGORIES,
  GROUP_BYS,
  LAYERS,
  endOf,
  exitCodeOf,
  type Layer,
  type SiteWindow,
  type TraceInfo,
} from '../protocol/trace';

const TRACE = 1;
/** Of the timeline, which the page shows no finer. */
const BUCKETS = 4096;
/** As the page requests them. */
const AXIS_POINTS = 2048;
const GROUPS = [4, 6];
const DRAWN = ['tensor', 'reserved', 'driver'] as const;
/** The peak's allocation is in it, however its time is rounded. */
const JUST_AFTER_NS = 100;
const MOST_ROWS = 100_000;
/** Blocks of the end and the peaks, and of other moments. */
const MOST_BLOCKS = { main: 20_000, other: 300 };
/** Single processes and devices at other moments than these are not in the file. */
const MOST_SCOPES = 40;
const MOST_STEPS = 24;
const PARTS = 16;
const POLL_MS = 20;

export interface RecordedPage {
  session: SessionView;
  answers: Map<string, unknown>;
}

/** Makes an engine, which reports facts about traces to `send`. */
export type StartEngine = (send: (message: FromEngine) => void) => Engine;

export interface Recording {
  /** A saved trace, or the folder of one. */
  path: string;
  signal?: AbortSignal;
  onProgress?: (done: number) => void;
}

/** By an engine of its own: what a running program adds meanwhile is in no part of it. Rejects with one sentence, or the signal's reason. */
export async function recordPage(start: StartEngine, of: Recording): Promise<RecordedPage> {
  const { path } = of;
  const facts: Pick<TraceFacts, 'ending'> & Partial<TraceFacts> = { ending: null };
  const engine = start(message => void (message.type === 'news' && Object.assign(facts, message.facts)));
  const directory = statSync(path).isDirectory() ? path : null;
  const { info } = await engine.request('open', { trace: TRACE, path, directory, findsHolders: false, ended: false });
  try {
    await engine.request('readToEnd', { trace: TRACE });
    return await new PageRecorder(engine, of, { info, ...facts }).record();
  } finally {
    await engine.request('close', { trace: TRACE });
  }
}

class PageRecorder {
  private readonly answers = new Map<string, unknown>();
  private moments: number[] = [];
  private readonly scopes: Scope[];
  private readonly layers: Layer[];
  private readonly ids = new Map<string, Set<number>>();
  private readonly title: string;

  constructor(
    private readonly engine: Engine,
    private readonly of: Recording,
    private readonly facts: Pick<TraceFacts, 'info' | 'ending'>,
  ) {
    const [first] = facts.info.processes;
    this.title = first === undefined ? baseName(of.path) : scriptName(first.command);
    this.scopes = scopesOf(facts.info);
    this.layers = LAYERS.filter(layer => facts.info.totals.some(one => one.layer === layer && one.allocations > 0));
  }

  async record(): Promise<RecordedPage> {
    const { info, ending } = this.facts;
    const peaks = await this.recordTimeline();
    const main = [...peaks, ...(ending === null ? [] : [ending.timeNs])];
    this.moments = distinctMoments([...main, ...(await this.otherMoments())]);
    const isMain = new Set(this.moments.filter(time => main.some(one => Math.abs(one - time) < JUST_AFTER_NS)));
    await this.recordMoment({ kind: 'now' }, true);
    for (const [i, timeNs] of this.moments.entries()) {
      this.of.onProgress?.(i / this.moments.length);
      const moment: Moment = { kind: 'at', timeNs };
      await this.recordMoment(moment, isMain.has(timeNs));
      await this.request('readMoment', { moment });
      if (peaks.includes(timeNs)) for (const scope of this.scopes) await this.request('peakCard', { moment, ...scope });
    }
    await this.recordVerdicts();
    return { session: this.session(info), answers: this.answers };
  }

  private session(info: TraceInfo): SessionView {
    const when = new Date(info.startRealtimeMs).toISOString().slice(0, 16).replace('T', ' ');
    return {
      ...NO_SESSION,
      phase: 'ended',
      ...endOf(exitCodeOf(info)),
      title: this.title,
      detail: t('Recorded {0} UTC.', when),
      simulated: info.processes.some(({ simulated }) => simulated),
      ending: this.facts.ending,
      marks: marksOf(info),
      moments: this.moments,
      info,
    };
  }

  /** `as`: the parameters that its answer is kept by. */
  private async request<M extends PageMethod>(
    method: M,
    params: Params<M>,
    as: unknown = params,
  ): Promise<ReturnType<PageRequests[M]>> {
    this.of.signal?.throwIfAborted();
    const question: PageQuestion = { trace: TRACE, title: this.title, method, params: params as never, others: [] };
    const answer = await this.engine.request('answer', question);
    this.answers.set(recordedKey(method, as, this.moments), answer);
    return answer as ReturnType<PageRequests[M]>;
  }

  /** Over the whole run; the moments of its peaks. */
  private async recordTimeline(): Promise<number[]> {
    const { durationNs, processes } = this.facts.info;
    const whole = { fromNs: 0, toNs: Math.ceil(durationNs) + 1 };
    for (const { index: process } of processes) {
      await this.request('passes', { process, ...whole });
      await this.request('ranges', { process, ...whole, leastNs: 0 });
    }
    const peaks = [];
    for (const scope of this.scopes) {
      for (const series of DRAWN)
        await this.request(
          'timeline',
          { series: [{ series, ...scope, ...whole, buckets: BUCKETS }] },
          { series, ...scope },
        );
      for (const layer of ['tensor', 'driver'] as const) await this.recordStacks(layer, scope);
      for (const series of ['tensor', 'driver'] as const)
        peaks.push(await this.recordPeak({ series, ...scope, ...whole }));
    }
    return distinctMoments(peaks.flatMap(peak => peak ?? []));
  }

  private async recordStacks(layer: 'tensor' | 'driver', scope: Scope): Promise<void> {
    for (const by of STACK_BY)
      for (const rank of STACK_RANKS)
        for (const top of GROUPS) await this.request('stackedTimeline', { layer, by, rank, top, ...scope });
  }

  private async recordPeak(query: Params<'peakInside'>): Promise<number | null> {
    const { fromNs, toNs, bytes } = await this.request('peakInside', query);
    if (bytes <= 0) return null;
    let reading: PeakReading;
    do {
      reading = await this.request('exactPeak', { ...query, fromNs, toNs, bytes }, query);
      if (!reading.done) await new Promise(done => setTimeout(done, POLL_MS));
    } while (!reading.done);
    return reading.peak && Math.floor(reading.peak.toNs) + JUST_AFTER_NS;
  }

  /** Ends of steps from the first to the last, or parts of the run where no steps are known; marks, and failures. */
  private async otherMoments(): Promise<number[]> {
    const { info } = this.facts;
    const [trace] = await this.request('compareTraces', undefined);
    const { axis } = await this.request('timelineSteps', { points: AXIS_POINTS });
    const marked = [...marksOf(info), ...info.outOfMemory].map(({ timeNs }) => timeNs).slice(-MOST_SCOPES);
    const newest = (axis?.endNs.length ?? 0) - 1;
    // The last two are compared first.
    const chosen = new Set([...spread(Math.max(newest, 0), MOST_STEPS), newest, newest - 1]);
    const steps = [...chosen]
      .filter(at => at in (axis?.endNs ?? {}))
      .sort((a, b) => b - a)
      .map(at => ({ step: axis!.last[at]!, endNs: axis!.endNs[at]! }));
    this.answers.set(recordedKey('compareTraces', undefined, []), [{ ...trace, steps }]);
    return [...(newest < 0 ? spread(info.durationNs, PARTS) : steps.map(({ endNs }) => endNs)), ...marked];
  }

  private async recordMoment(moment: Moment, main: boolean): Promise<void> {
    await this.request('ledger', { moment });
    const ids = new Set<number>();
    for (const layer of this.layers) {
      await this.request('allocations', {
        ...{ layer, moment, sort: 'bytes', descending: true, from: 0 },
        to: main ? MOST_BLOCKS.main : MOST_BLOCKS.other,
      });
      for (const scope of main ? this.scopes : this.scopes.slice(0, 1))
        for (const id of await this.recordRows(layer, scope, { moment })) ids.add(id);
    }
    await this.recordSites(ids, { moment });
    for (const { process, device } of this.facts.info.totals) {
      if (device < 0) continue;
      const maxBlocks = main ? MOST_BLOCKS.main : MOST_BLOCKS.other;
      await this.request('segments', { process, device, moment, maxBlocks }, { process, device, moment });
    }
  }

  private async recordRows(layer: Layer, scope: Scope, of: OfMoment): Promise<Set<number>> {
    const rows = { layer, sort: 'liveBytes', descending: true, from: 0, to: MOST_ROWS, ...scope, ...of } as const;
    const ids = new Set<number>();
    for (const groupBy of GROUP_BYS) {
      const window = await this.request('sites', { ...rows, groupBy, includeDead: groupBy === 'site' });
      const known = this.ids.get(groupBy) ?? new Set();
      this.ids.set(groupBy, known);
      for (const id of (window as SiteWindow).id) {
        known.add(id);
        ids.add(id);
      }
    }
    for (const category of layer === 'tensor' ? CATEGORIES : [])
      await this.request('sites', { ...rows, groupBy: 'module-path', category } as Params<'sites'>);
    return ids;
  }

  private async recordSites(ids: Iterable<number>, of: OfMoment): Promise<void> {
    const [sites, frees]: Record<number, unknown>[] = [{}, {}];
    for (const id of ids) {
      sites![id] = await this.request('site', { id, ...of });
      frees![id] = await this.request('freeLines', { site: id, ...of });
    }
    this.answers.set(recordedKey('site', of, this.moments), sites);
    this.answers.set(recordedKey('freeLines', of, this.moments), frees);
  }

  private async recordVerdicts(): Promise<void> {
    const { findings } = await this.request('findings', undefined);
    await this.request('builtUp', undefined);
    for (const { id } of findings) await this.request('otherLines', { finding: id });
    for (const groupBy of ['site', 'line', 'function'] as const) {
      const all = [...(this.ids.get(groupBy) ?? [])];
      const verdicts = [];
      for (let from = 0; from < all.length; from += MAX_VERDICTS)
        verdicts.push(...(await this.request('verdicts', { sites: all.slice(from, from + MAX_VERDICTS), groupBy })));
      this.answers.set(recordedKey('verdicts', { groupBy }, this.moments), verdicts);
    }
  }
}

/** All together first; then each process and device, where there are several. */
function scopesOf({ totals, processes, devices }: TraceInfo): Scope[] {
  const several = <T>(all: readonly T[], make: (one: T) => Scope): Scope[] => (all.length > 1 ? all.map(make) : []);
  const pairs = new Map(totals.map(({ process, device }) => [`${process} ${device}`, { process, device }]));
  return [
    { process: -1, device: -1 },
    ...several(processes, ({ index: process }) => ({ process, device: -1 })),
    ...several(devices, ({ index: device }) => ({ process: -1, device })),
    ...several(processes.length > 1 && devices.length > 1 ? [...pairs.values()] : [], pair => pair),
  ].slice(0, MOST_SCOPES);
}

/** So many whole numbers from 0 to `last`, at equal distances. */
function spread(last: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.round((last * i) / (count - 1)));
}
