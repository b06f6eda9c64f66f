import * as vscode from 'vscode';
import type { TraceSource } from '../../protocol/trace';
import type { TraceRequests } from '../../protocol/traceRequests';
import type { PageModel } from '../page';
import type { Answers } from './answers';

export function traceAnswers(model: PageModel): Answers<TraceRequests> {
  return {
    sites: query => openTrace(model).sites(query),
    site: ({ id }) => openTrace(model).site(id),
    timeline: ({ series }) => {
      const trace = openTrace(model);
      return series.map(query => trace.timeline(query));
    },
  };
}

/** The trace that the page shows. Throws a sentence where there is none. */
export function openTrace(model: PageModel): TraceSource {
  if (model.session === null) throw new Error(vscode.l10n.t('No trace is open.'));
  return model.session.native;
}
