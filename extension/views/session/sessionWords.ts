import { formatCount, type Translate } from '../../text/format';
import { vocabulary } from '../../text/vocabulary';
import type { Phase } from '../../protocol/requests/messages';
import type { FindingVerdict } from '../../protocol/verdicts';

/** What is known of a session. */
export interface SessionSummary {
  readonly phase: Phase;
  readonly running: boolean;
  /** It ended by itself, and not well. */
  readonly crashed: boolean;
  /** The user ends it, or has ended it. */
  readonly stopped: boolean;
  readonly recordingOn: boolean;
  /** So many were found. */
  readonly leaks: number;
  /** What else was found. */
  readonly others: readonly FindingVerdict[];
}

/** The icon of a session: a failure before a leak; that it ended is no success. */
export function sessionIcon({
  phase,
  running,
  crashed,
  stopped,
  recordingOn,
  leaks,
}: Omit<SessionSummary, 'others'>): string {
  if (phase === 'failed' || crashed) return 'error';
  if (leaks > 0) return 'warning';
  if (phase === 'starting' || (running && stopped)) return 'loading~spin';
  if (!running) return 'circle-outline';
  return recordingOn ? 'pulse' : 'debug-pause';
}

/** The same in words: `ended · 1 leak`. */
export function sessionWords(session: SessionSummary, t: Translate): string {
  return [stateWord(session, t), ...foundTexts(session.leaks, session.others, t)].join(' · ');
}

/** `ended`, `failed`. */
export function stateWord(session: SessionSummary, t: Translate): string {
  const { phase, running, crashed, stopped, recordingOn } = session;
  if (phase === 'failed' || crashed) return t('failed');
  if (stopped) return running ? t('stopping') : t('stopped');
  if (phase === 'starting') return t('starting');
  if (running) return recordingOn ? t('running') : t('paused');
  return t('ended');
}

/** `2 leaks`; where there are none, the names of what else was found: `Grew until the end`. */
export function foundTexts(leaks: number, others: readonly FindingVerdict[], t: Translate): string[] {
  if (leaks === 0) return others.map(verdict => vocabulary(t).findings[verdict].name);
  return [leaks === 1 ? t('1 leak') : t('{0} leaks', formatCount(leaks))];
}
