// A trace that is open in the window, as it is read and judged.
import { endingOf, endingWords, leftOf } from '../report/tables/ending';
import { BEHIND_NS } from '../report/documents/oomReport';
import { settle } from '../capture/launch/settle';
import { TraceSession } from '../native/traceSession';
import type { NativeAddon } from '../native/addon';
import { traceFile } from '../native/traceFile';
import { GroupSlots, type KnownSlots } from './groupSlots';
import type { Opening, TraceChange, TraceFacts } from '../protocol/requests/engineRequests';
import { NOW, type EndMoment, type Moment } from '../protocol/requests/moment';
import type { StackBy } from '../protocol/requests/timelineRequests';
import { listedLayer } from '../protocol/trace';
import { sum } from '../analysis/series/statistics';
import { TraceVerdicts } from './traceVerdicts';

/** For so long processes that an ended program left may take to end. */
const STRAGGLER_MS = 1_000;

/** A program frees what it has before it ends: what was seen last stays for so long, or until the end is known. */
const EMPTIED_MS = 1_000;

/** Takes what is new of a trace; see `FromEngine`. */
export type PushFacts = (facts: Partial<TraceFacts>, change?: TraceChange) => void;

export class FollowedTrace {
  readonly verdicts: TraceVerdicts;
  /** What is shown of a program that freed everything, or nearly, when it ended; null: this moment. */
  ending: EndMoment | null = null;
  /** Of lines that are drawn in the timeline or were. */
  hues: ReadonlyMap<string, number> = new Map();
  private readonly slots: Record<StackBy, GroupSlots>;
  /** Revision of the facts that were pushed last. */
  private pushed = -1;
  private judging = false;
  /** What was pushed last holds memory. */
  private full = false;
  /** What is new waits: the program may be about to end. */
  private waiting: NodeJS.Timeout | undefined;
  /** Answers that wait with it. */
  private held: (() => void)[] = [];
  private closed = false;

  constructor(
    readonly session: TraceSession,
    private readonly directory: string | null,
    private readonly push: PushFacts,
    known: KnownSlots,
  ) {
    const { line, category, thread } = known;
    this.slots = { line: new GroupSlots(line), category: new GroupSlots(category), thread: new GroupSlots(thread) };
    this.verdicts = new TraceVerdicts(session.native, directory, () => push({ findings: this.findings }, 'state'));
    session.onChange(() => this.pushNews());
    session.follow();
  }

  /** Rejects with a sentence. `known`: colours of the traces before. */
  static async open(
    addon: NativeAddon,
    { path, directory }: Opening,
    push: PushFacts,
    known: KnownSlots,
  ): Promise<FollowedTrace> {
    const { path: own, release } = directory === null ? await traceFile(addon, path) : { path, release: undefined };
    return new FollowedTrace(new TraceSession(addon, own, release), directory, push, known);
  }

  get facts(): TraceFacts {
    const info = this.session.native.info();
    this.pushed = info.revision;
    return { info, ending: this.ending, hues: this.hues, findings: this.findings };
  }

  private get findings(): TraceFacts['findings'] {
    return this.verdicts.latest?.findings ?? null;
  }

  private pushNews(): void {
    const isEmptied = this.directory !== null && leftOf(this.session.native) !== null;
    if (isEmptied && this.full) this.waiting ??= setTimeout(() => this.pushNow(false), EMPTIED_MS);
    else this.pushNow(!isEmptied);
  }

  private pushNow(full: boolean): void {
    this.full = full;
    this.stopWaiting();
    this.pushInfo('events');
    void this.judge();
  }

  private stopWaiting(): void {
    clearTimeout(this.waiting);
    this.waiting = undefined;
    for (const resume of this.held.splice(0)) resume();
  }

  /** Resolves once what was read is pushed: figures of now that are answered then stand beside it. At another moment, at once. */
  async untilPushed(moment: Moment = NOW): Promise<void> {
    if (moment.kind === 'now' && this.waiting !== undefined) await new Promise<void>(done => this.held.push(done));
  }

  /**
   * Pushes what is known of this moment. Without `change` it goes with an answer, unless it was pushed. With it a page requests anew, also a
   * moment that went with an answer: the thread that reads may have been ahead of the news of it, and not all of the page has requested it.
   */
  pushInfo(change?: TraceChange): void {
    const { native } = this.session;
    if (change === undefined && (this.waiting || native.revision() === this.pushed)) return;
    const info = native.info();
    this.pushed = info.revision;
    this.push({ info }, change);
  }

  /** Judges what is new, at once or when that is worth it. */
  private async judge(): Promise<void> {
    if (this.judging) return;
    this.judging = true;
    try {
      while (!this.closed && (await this.verdicts.verdictsNow()).stale) await this.verdicts.due();
    } catch {
      // the trace was closed
    } finally {
      this.judging = false;
    }
  }

  /** As it was shown when its program, or its file, had come to its end. */
  async showEnded(): Promise<void> {
    if (this.directory === null) return this.readToEnd();
    await this.readRest(true);
    await this.findEnding();
  }

  /** All that a saved trace holds was read. */
  async readToEnd(): Promise<void> {
    await this.session.native.settle();
    this.session.pause();
    await this.findEnding();
  }

  /** All that an ended program wrote was read; what is shown of it where it freed everything, `findEnding` pushes. */
  async readRest(attached: boolean): Promise<void> {
    if (this.directory !== null) await settle(this.session.native, this.directory, STRAGGLER_MS, attached);
    this.pushNews();
    clearTimeout(this.waiting);
  }

  /** Searches for the moment that is shown instead of the end. Rejects when the trace is closed. */
  async findEnding(): Promise<void> {
    try {
      this.ending = await this.endMoment();
    } finally {
      this.stopWaiting();
      if (!this.closed) this.push(this.facts, 'state');
      void this.judge();
    }
  }

  private async endMoment(): Promise<EndMoment | null> {
    const { native, moments } = this.session;
    if (endingOf(native) === null) return null;
    const { durationNs } = native.info();
    // A trace that was read while it was recorded: read once more its times are those that a moment of it is read by.
    const found = endingOf(this.directory === null ? native : await moments.at(durationNs + BEHIND_NS));
    if (found === null) return null;
    const { timeNs, step } = found;
    return { timeNs, step, bytes: await this.bytesAt(timeNs), ...endingWords(found) };
  }

  /** Alive then, in the layer that is listed first: header, table and status bar show the same. */
  async bytesAt(timeNs: number): Promise<number> {
    const { native, moments } = this.session;
    const layer = listedLayer(native.info().totals);
    const { totals } = (await moments.at(timeNs)).info();
    return sum(totals.map(total => (total.layer === layer ? total.liveBytes : 0)));
  }

  /** The colours of groups of the timeline, in their order: one that stays keeps its own. */
  colourGroups(by: StackBy, names: readonly string[]): number[] {
    const slots = this.slots[by].assign(names);
    if (by === 'line' && names.some((name, i) => this.hues.get(name) !== slots[i])) {
      // A line that is drawn no longer keeps its colour until another needs it.
      const earlier = [...this.hues].filter(([name, slot]) => !names.includes(name) && !slots.includes(slot));
      this.hues = new Map([...names.map((name, i) => [name, slots[i] ?? 0] as const), ...earlier]);
      this.push({ hues: this.hues });
    }
    return slots;
  }

  close(): void {
    this.closed = true;
    this.stopWaiting();
    this.verdicts.close();
    this.session.close();
  }
}
