import { resolve } from 'node:path';
import * as vscode from 'vscode';
import { linePlace } from '../../analysis/findings/kinds/wording';
import { reasonOf } from '../../capture/traces/traceDirectory';
import { openLine } from '../../editor/openLine';
import { lineName } from '../../text/format';
import { parseTraceTime } from '../../protocol/traceTime';
import { EXPLORER } from '../contributedNames';
import type { ExplorerView } from '../page/explorer';
import { Refused } from '../session/refused';
import type { Sessions } from '../session/sessions';

/** As the manifest's schema has it. */
export interface Shown {
  trace?: string;
  at?: string;
  finding?: string;
  line?: string;
}

/** Shows what an agent points to; gives what was done. Rejects with a sentence. */
export async function showInEditor(sessions: Sessions, explorer: ExplorerView, target: Shown): Promise<string> {
  const { trace, at, finding: id = null } = target;
  if (trace !== undefined) await bring(sessions, trace);
  const { shown } = sessions;
  if (!shown?.facts) throw new Refused(vscode.l10n.t('No trace is open. Open or record one first.'));
  await shown.judged();
  const finding = id === null ? null : shown.finding(id);
  const time = at === undefined ? null : parseTraceTime(at);
  const moment = time && (await shown.request('momentOf', { time }));
  if (moment === null && at !== undefined) throw new Refused(vscode.l10n.t('{0} is not a valid trace time.', at));
  if (moment !== null && 'error' in moment) throw new Refused(moment.error);
  await vscode.commands.executeCommand(`${EXPLORER}.focus`, { preserveFocus: true });
  const title = moment && vscode.l10n.t('Live at {0}', moment.text);
  if (moment !== null) explorer.show({ type: 'moment', timeNs: moment.ns, title: title ?? '', finding: id });
  else if (id !== null) explorer.show({ type: 'finding', id });
  const [, file, number] = /^(.+):([1-9]\d{0,8})$/.exec(target.line ?? '') ?? [];
  const place = file ? { file, line: Number(number) } : finding && (linePlace(finding.holder) ?? finding.place);
  const opened = place && (await openLine(place.file, place.line, shown.folders).then(() => lineName(place), reasonOf));
  return [shown.title, title, finding?.title, opened].filter(Boolean).join('\n');
}

/** The session of a process, or of a file, which is opened where it is not yet. */
async function bring(sessions: Sessions, trace: string): Promise<void> {
  const pid = Number(trace);
  const [file, { all }] = [resolve(trace), sessions];
  const runs = all.find(one => one.facts?.info.processes.some(process => process.pid === pid));
  const known = runs ?? all.find(one => one.file === file);
  if (known !== undefined) return sessions.show(known.id);
  if (Number.isInteger(pid)) throw new Refused(vscode.l10n.t('Process {0} is not traced in this window.', trace));
  await sessions.open(file);
}
