import { join } from 'node:path';
import * as vscode from 'vscode';
import type { EngineProcess } from '../../client/engineProcess';
import { checkTarget } from '../../capture/checks/attachTarget';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import { joinWords, splitWords } from '../../capture/launch/shellWords';
import { tracerMissing } from '../../capture/launch/tracer';
import { scriptName } from '../../capture/traces/keptTraces';
import type { ComparePoint } from '../../protocol/requests/compareRequests';
import type { LineBytes } from '../../editor/lineBytes';
import { scriptOf, startOf } from '../../files/tracedProgram';
import {
  planOfActiveFile,
  planOfChosenFile,
  planOfConfiguration,
  planOfFile,
  planOfTest,
  type Asking,
} from './chooseLaunch';
import type { DoctorPage } from '../page/doctorPage';
import type { ExplorerView } from '../page/explorer';
import { showFinding, whoHolds } from './findingCommands';
import { debugActiveFile, type Debugging } from './debugging';
import { CHANGE_ARGUMENTS, EXPLORER, type CommandName } from '../contributedNames';
import { chooseInterpreter, NoInterpreter } from './interpreter';
import { installNotebookKernel } from './notebookKernel';
import { pickProcess } from './processPicker';
import { pickJob } from '../page/jobPage';
import { browseFiles, openPicked, pickTrace, type PickedTrace } from '../session/pickTrace';
import { Refused, sudoWords } from '../session/refused';
import type { OpenTerminal } from '../session/terminal';
import { chooseSession, closeSession, markNow, stopProgram } from './sessionCommands';
import type { Session } from '../session/session';
import { refuseUntrusted, type Sessions } from '../session/sessions';
import type { WidePanel } from '../page/widePanel';
import { trySample } from './sample';
import { saveTrace } from './saveTrace';
import { setUp } from './setUp';
import { makeRoom } from './stillRunning';
import { missingGpu } from './withoutGpu';

interface Parts {
  sessions: Sessions;
  engine: EngineProcess;
  memory: vscode.Memento;
  dist: string;
  /** A folder of this extension that may be written. */
  storage: string;
  log: vscode.LogOutputChannel;
  doctor: DoctorPage;
  explorer: ExplorerView;
  wide: WidePanel;
  lineBytes: LineBytes;
  debugging: Debugging;
  /** Throws `Refused` where it is none. */
  openJob(folder: vscode.Uri): void;
}

type Action = (...given: unknown[]) => Promise<void> | void;
export type Commands = Record<CommandName, (...given: unknown[]) => Promise<void>>;

/** What the commands do. Each failure is one sentence in a notification. */
export function makeCommands(parts: Parts): Commands {
  const { sessions, log, doctor, wide } = parts;
  const actions: Record<CommandName, Action> = {
    start: () => startFile(parts),
    startConfiguration: () => start(parts, planOfConfiguration),
    startChosen: () => start(parts, () => planOfChosenFile(parts.memory)),
    trySample: () => trySample(parts),
    startWithArguments: () => startFile(parts, 'always'),
    traceAgain: change => traceAgain(parts, change === CHANGE_ARGUMENTS),
    debug: debugActiveFile,
    runTest: test => start(parts, () => planOfTest(test)),
    showTensor: variable => showTensor(parts, variable),
    attach: pid => attach(parts, pid),
    stop: () => stopProgram(sessions, !sessions.all.some(({ running, attached }) => running && !attached)),
    detach: () => stopProgram(sessions, true),
    pauseRecording: () => sessions.shown?.setRecording(!sessions.shown.recordingOn),
    openTrace: file => openTrace(parts, file),
    saveTrace: (...given) => saveTrace(sessions, given),
    setUp,
    mark: name => markNow(sessions, name),
    selectSession: () => chooseSession(sessions),
    closeSession: () => closeSession(sessions),
    compareTraces: (file, files) => compareTraces(sessions, uris(file, files), a => showCompared(parts, a)),
    showFinding: (finding, session) => showFinding(parts, finding, session),
    whoHolds: finding => whoHolds(parts, finding),
    openWide: () => wide.show(),
    chooseInterpreter,
    doctor: () => doctor.show(),
    manageTrust: async () => vscode.commands.executeCommand('workbench.trust.manage'),
    openReport: () => showMarkdown(sessions.shown?.oomReport ?? ''),
    openManual: page => showMarkdown(join(parts.dist, '..', String(page))),
    installKernel: () => installNotebookKernel(parts.dist),
    showPanel: async () => {
      await showPanel({ preserveFocus: false });
      parts.explorer.show({ type: 'focus' });
    },
    applyFix: finding => parts.lineBytes.applyFix(finding),
    toggleLineBytes: () => parts.lineBytes.toggle(),
  };
  parts.debugging.begin = (makePlan, open) => showingFailures(() => start(parts, makePlan, open), log)();
  const guarded = Object.entries(actions).map(([name, action]) => [name, showingFailures(action, log)]);
  return Object.fromEntries(guarded) as Commands;
}

const showingFailures =
  (action: Action, log: vscode.LogOutputChannel) =>
  async (...given: unknown[]): Promise<void> => {
    try {
      await action(...given);
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      if (!(error instanceof Refused)) log.error(error instanceof Error ? error : sentence);
      void showError(sentence, error instanceof Refused ? error.command : null);
    }
  };

/** `command`: a line to type, which is shown and can be copied. */
async function showError(sentence: string, command: string | null): Promise<void> {
  if (command === null) return void vscode.window.showErrorMessage(sentence);
  const copy = vscode.l10n.t('Copy command');
  const answer = await vscode.window.showErrorMessage(`${sentence} ${command}`, copy);
  if (answer === copy) await vscode.env.clipboard.writeText(command);
}

/** `given`: a process id, for other extensions and key bindings; else a prompt. */
async function attach({ sessions, engine, dist }: Parts, given: unknown): Promise<void> {
  refuseUntrusted();
  const missing = tracerMissing(dist);
  if (missing !== null) throw new Refused(missing.message);
  const pid = typeof given === 'number' ? given : (await pickProcess(engine))?.pid;
  if (pid === undefined) return;
  await showPanel();
  const target = await checkTarget(pid, sudoWords(dist, pid));
  if ('sentence' in target) throw new Refused(target.sentence, target.command);
  await sessions.attach(target);
}

/** The active file, or the program that the page shows if its tab is in front. Without a GPU there is no prompt: the sample is shown. */
async function startFile(parts: Parts, asking?: Asking): Promise<void> {
  refuseUntrusted();
  if ((await missingGpu()) !== null) return trySample(parts);
  const { sessions, memory, wide } = parts;
  if (wide.active && sessions.shown && canRunAgain(sessions.shown)) return traceAgain(parts, asking === 'always');
  const failed = (file: string): boolean =>
    sessions.all.findLast(({ plan }) => plan?.script === file)?.failedAtOnce ?? false;
  await start(parts, () => planOfActiveFile(memory, file => asking ?? (failed(file) ? 'ifAny' : 'usual')));
}

/** The shown program, as it was started or with other arguments, with all files saved; where that is not known any more, its script, or the active file. */
async function traceAgain(parts: Parts, changeArguments: boolean): Promise<void> {
  const { shown } = parts.sessions;
  if (!shown || !canRunAgain(shown)) return startFile(parts);
  await vscode.workspace.saveAll(false);
  const { plan } = shown;
  if (isSaved(shown)) return start(parts, () => planOfSaved(shown));
  if (plan) return start(parts, () => plan.again?.(changeArguments) ?? Promise.resolve(plan));
  const script = vscode.Uri.file(scriptOf(shown) ?? '');
  await start(parts, () => planOfFile(script, parts.memory, changeArguments ? 'always' : 'usual'));
}

/** How it was started is known, or its script; the sample is no program of the user's. */
const canRunAgain = (one: Session): boolean =>
  one.plan !== null || (!one.isSample && (isSaved(one) ? startOf(one) : scriptOf(one)) !== null);
const isSaved = (one: Session): boolean => one.plan === null && one.recordedIn === null;

/** The command that a saved trace has, which anybody may have written: it runs only once the user has seen it. */
async function planOfSaved(saved: Session): Promise<LaunchPlan | undefined> {
  const known = startOf(saved);
  if (known === null) return undefined;
  const line = await vscode.window.showInputBox({
    title: vscode.l10n.t('Trace GPU memory: command of the saved trace'),
    prompt: vscode.l10n.t('The command is from the trace file. It runs in {0}.', known.cwd),
    value: joinWords(known.command),
    ignoreFocusOut: true,
    validateInput: text => (splitWords(text) === null ? vscode.l10n.t('Add the missing closing quote.') : undefined),
  });
  const command = splitWords(line ?? '') ?? [];
  return command.length === 0 ? undefined : { title: scriptName(command), command, cwd: known.cwd, environment: {} };
}

async function showMarkdown(file: string): Promise<void> {
  await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.file(file));
}

async function start(
  parts: Parts,
  makePlan: () => Promise<LaunchPlan | undefined>,
  open?: OpenTerminal,
): Promise<void> {
  const { sessions } = parts;
  refuseUntrusted();
  const plan = await makePlan().catch(async (error: unknown) => {
    if (!(error instanceof NoInterpreter)) throw error;
    sessions.fail(vscode.l10n.t('No Python'), error.message, ['chooseInterpreter', 'traceAgain']);
    await showPanel();
  });
  if (plan === undefined || !(await makeRoom(sessions, plan))) return;
  if (!parts.wide.visible) await showPanel();
  const missing = await missingGpu(plan.environment);
  if (missing === null) return sessions.start(plan, open);
  sessions.fail(plan.title, vscode.l10n.t('{0} Nothing was started.', missing), ['trySample', 'doctor']);
}

async function showPanel(how = { preserveFocus: true }): Promise<void> {
  await vscode.commands.executeCommand(`${EXPLORER}.focus`, how);
}

/** `given`: a trace, a memory snapshot or the folder of a job; else a prompt. */
async function openTrace({ sessions, openJob }: Parts, given: unknown): Promise<void> {
  const picked = given instanceof vscode.Uri ? { file: given } : await pickTraceOrJob(sessions);
  if (picked === undefined) return;
  if ('trace' in picked) {
    sessions.show(picked.trace);
    return showPanel();
  }
  const { file: chosen } = picked;
  const { type } = await vscode.workspace.fs.stat(chosen).then(
    found => found,
    () => ({ type: vscode.FileType.File }), // opening it shows what is wrong
  );
  if (type & vscode.FileType.Directory) return openJob(chosen);
  await sessions.open(chosen.fsPath);
  await showPanel();
}

/** A dialog chooses files or folders, never both. */
function pickTraceOrJob(sessions: Sessions): Promise<PickedTrace | undefined> {
  const title = vscode.l10n.t('Open trace');
  const job = {
    label: vscode.l10n.t('Browse for a job…'),
    detail: vscode.l10n.t('Folder of a multi-rank job'),
    pick: () => pickJob().then(file => file && { file }),
  };
  return pickTrace(sessions, title, { browse: [job, browseFiles(title)] });
}

/** `given`: what the view of variables gives, of a tensor. */
async function showTensor({ debugging, explorer }: Parts, given: unknown): Promise<void> {
  const { name, found } = await debugging.variable(given);
  if (found === null) throw new Refused(vscode.l10n.t('{0} is not a tensor with traced memory.', name));
  await showPanel();
  explorer.show({ type: 'block', title: found.place, block: found.block });
}

/** What the Explorer gives a command: the file it was called on, and all that are selected. */
function uris(file: unknown, files: unknown): vscode.Uri[] {
  const given = Array.isArray(files) && files.length > 0 ? (files as unknown[]) : [file];
  return given.filter(one => one instanceof vscode.Uri);
}

/**
 * Shows a saved trace beside another one. `files`: both, the earlier one first; with none, what is
 * shown is compared with a trace that the user chooses, unless it has no memory to compare.
 */
async function compareTraces(
  sessions: Sessions,
  files: readonly vscode.Uri[],
  show: (a: ComparePoint) => Promise<void>,
): Promise<void> {
  const pick = (file: vscode.Uri | undefined, title: string, except?: number): Promise<PickedTrace | undefined> =>
    file ? Promise.resolve({ file }) : pickTrace(sessions, title, { except });
  const shown = files.length === 0 && sessions.shown?.hasAllocations ? sessions.shown.id : undefined;
  const before = await pick(files[0], vscode.l10n.t('Compare: earlier trace'), shown);
  if (before === undefined) return;
  const trace = await openPicked(sessions, before);
  const after = shown ? { trace: shown } : await pick(files[1], vscode.l10n.t('Compare: later trace'), trace);
  if (after === undefined) return;
  sessions.show(await openPicked(sessions, after));
  await show({ trace, timeNs: null });
}

async function showCompared({ wide, explorer }: Parts, a: ComparePoint): Promise<void> {
  if (wide.visible) return wide.compare(a);
  explorer.show({ type: 'compare', a });
  await showPanel();
}
