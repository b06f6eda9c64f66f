// The sample: a run of a training script that leaks, recorded on a GPU. Nothing runs.
import { join } from 'node:path';
import * as vscode from 'vscode';
import { linePlace } from '../../analysis/findings/kinds/wording';
import { openLine } from '../../editor/openLine';
import { makeFolder, readBytes, writeWhole } from '../../files/files';
import { isLeak } from '../../protocol/verdicts';
import { EXPLORER } from '../contributedNames';
import type { SampleWords } from '../session/openTrace';
import type { Sessions } from '../session/sessions';
import { missingGpu } from './withoutGpu';

const SCRIPT = 'finetune.py';
const TRACE = 'finetune.gputrace';
/** What it was recorded on. */
const RECORDED = { gpu: 'NVIDIA H200', pytorch: '2.11', day: Date.UTC(2026, 10, 28) };

interface Parts {
  sessions: Sessions;
  dist: string;
  storage: string;
}

/** Shows the recorded run, and its source at the line that leaks. Rejects with a sentence. */
export async function trySample({ sessions, dist, storage }: Parts): Promise<void> {
  const folder = join(storage, 'sample');
  copyFresh(join(dist, '..', 'media', 'sample'), folder);
  const file = join(folder, TRACE);
  const known = sessions.all.find(session => session.file === file);
  sessions.show(known?.id ?? (await sessions.open(file, true, about(await missingGpu()))));
  await vscode.commands.executeCommand(`${EXPLORER}.focus`, { preserveFocus: true });
  const { shown } = sessions;
  const leak = (await shown?.judged())?.find(isLeak);
  const place = leak && (linePlace(leak.holder) ?? leak.place);
  if (shown && place) await openLine(place.file, place.line, shown.folders);
}

/** The trace with its source beside it, in a folder of the user's: an edit of the script is for trying a fix. */
function copyFresh(from: string, to: string): void {
  makeFolder(to);
  // No younger than the run: its lines are those that ran.
  for (const name of [SCRIPT, TRACE])
    writeWhole(join(to, name), [readBytes(join(from, name))], { changedMs: RECORDED.day });
}

/** `missing`: why nothing else can be traced here. */
function about(missing: string | null): SampleWords {
  const { gpu, pytorch, day } = RECORDED;
  const date = new Date(day).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
  const recorded = vscode.l10n.t('Recorded on an {0} with PyTorch {1}, {2}. Nothing runs here.', gpu, pytorch, date);
  return {
    title: vscode.l10n.t('{0} (recorded sample)', SCRIPT),
    detail: missing === null ? recorded : `${missing} ${recorded}`,
    withoutGpu: missing !== null,
  };
}
