import * as vscode from 'vscode';
import { originOf, type SourceOrigin } from '../../../editor/fixEdit';
import { untilOf, type Moment } from '../../../protocol/requests/moment';
import type { TraceSource } from '../../../protocol/trace';
import type { TraceSession } from '../../../engine/session';
import type { PageModel } from '../model';
import type { TraceVerdicts } from '../../session/traceVerdicts';

/** What answers for a moment; `born`: only blocks that were allocated in that span (ns) count. */
export interface MomentSource {
  source: TraceSource;
  born?: { fromNs: number; toNs: number };
}

/** The trace as it was at a moment, read to its end. Rejects with a sentence. */
export async function sourceOf(model: PageModel, moment: Moment | undefined): Promise<MomentSource> {
  const trace = openSession(model);
  const untilNs = untilOf(moment);
  const source = untilNs === null ? trace.native : await trace.moments.at(untilNs);
  if (moment?.kind !== 'born') return { source };
  return { source, born: { fromNs: moment.fromNs, toNs: moment.toNs } };
}

/** The span of births as a query of sites or allocations names it. */
export function bornIn({ born }: MomentSource): { bornFromNs?: number; bornToNs?: number } {
  return born ? { bornFromNs: born.fromNs, bornToNs: born.toNs } : {};
}

/** Where the source files of the trace that the page shows are. */
export function shownOrigin({ shown }: PageModel): SourceOrigin {
  return originOf(shown ?? { folders: { cwd: '/', beside: null }, trace: null });
}

/** The trace that the page shows. Throws a sentence where there is none. */
export function openSession({ shown }: PageModel): TraceSession {
  if (!shown?.trace) throw new Error(vscode.l10n.t('No trace is open.'));
  return shown.trace;
}

/** What is said of the trace that the page shows. Throws a sentence where there is none. */
export function openVerdicts({ shown }: PageModel): TraceVerdicts {
  if (!shown?.verdicts) throw new Error(vscode.l10n.t('No trace is open.'));
  return shown.verdicts;
}

/** As `openSession`: what it answers now. */
export function openTrace(model: PageModel): TraceSource {
  return openSession(model).native;
}
