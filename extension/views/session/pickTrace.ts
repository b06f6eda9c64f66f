import * as vscode from 'vscode';
import { byStart, programOf } from '../../files/tracedProgram';
import { summaryOf, summaryWords } from './recentTraces';
import { stateWord } from './sessionWords';
import type { Session } from './session';
import type { Sessions } from './sessions';

const NO_TRACE = { facts: null, folders: { cwd: '/', beside: null } };

/** A trace that is open, by its number; or a file, or the folder of a job. */
export type PickedTrace = { trace: number } | { file: vscode.Uri };
export interface TraceItem extends vscode.QuickPickItem {
  /** Undefined: the user went away. */
  pick?(): PickedTrace | undefined | Thenable<PickedTrace | undefined>;
}

/**
 * Lets the user choose one of the window's traces but for `except`, those of its program first, a recent one, or with `browse` any other.
 * Undefined: the user went away.
 */
export async function pickTrace(
  sessions: Sessions,
  title: string,
  { except = 0, browse = [browseFiles(title)] }: { except?: number | undefined; browse?: TraceItem[] } = {},
): Promise<PickedTrace | undefined> {
  const recent = await sessions.recent.refresh();
  const program = programOf(sessions.all.find(({ id }) => id === except) ?? NO_TRACE);
  const isOther = (session: Session): number => Number(program === null || programOf(session) !== program);
  const ofProgramFirst = sessions.all.toSorted((a, b) => isOther(a) - isOther(b) || byStart(b, a));
  const open = ofProgramFirst.flatMap((session): TraceItem[] => {
    const { id, facts, file, hasAllocations, leaks, others } = session;
    if (facts === null || !hasAllocations || id === except) return [];
    const summary = { ...summaryOf(file ?? session.title, facts.info), leaks, others };
    const description = summaryWords(summary, stateWord(session, vscode.l10n.t));
    return [{ label: session.title, description, pick: () => ({ trace: id }) }];
  });
  const isOpen = new Set(sessions.all.map(({ file }) => file));
  const closed = recent.filter(({ file }) => !isOpen.has(file));
  const items = [
    ...section(vscode.l10n.t('open traces'), open),
    ...section(
      vscode.l10n.t('recent traces'),
      closed.map((trace): TraceItem => {
        const pick = (): PickedTrace => ({ file: vscode.Uri.file(trace.file) });
        return { label: trace.title, description: summaryWords(trace), pick };
      }),
    ),
    ...section(vscode.l10n.t('others'), browse),
  ];
  const picked = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
  return picked?.pick?.();
}

function section(label: string, items: TraceItem[]): TraceItem[] {
  return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

/** The dialog for a saved trace or a memory snapshot. */
export function browseFiles(title: string): TraceItem {
  const filters = { [vscode.l10n.t('GPU memory traces')]: ['gputrace', 'pickle', 'pkl', 'gz', 'zip'] };
  return {
    label: vscode.l10n.t('Browse…'),
    detail: vscode.l10n.t('A *.gputrace file or a PyTorch *.pickle file'),
    pick: async () => {
      const [file] = (await vscode.window.showOpenDialog({ title, filters })) ?? [];
      return file && { file };
    },
  };
}

/** Its number in the window, where it is opened if it is not yet. Rejects with a sentence. */
export async function openPicked(sessions: Sessions, picked: PickedTrace): Promise<number> {
  return 'trace' in picked ? picked.trace : sessions.open(picked.file.fsPath, false);
}

/** Lets the user choose a trace to compare with; its number in the window, or null. `except`: the one that is shown. */
export async function openOther(sessions: Sessions, except?: number): Promise<number | null> {
  const picked = await pickTrace(sessions, vscode.l10n.t('Compare: earlier trace'), { except });
  return picked === undefined ? null : openPicked(sessions, picked);
}
