import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { checkTarget } from '../capture/attachTarget';
import type { LaunchPlan } from '../capture/launchConfiguration';
import { tracerMissing } from '../capture/tracer';
import { planOfActiveFile, planOfConfiguration } from './chooseLaunch';
import { Refused, RefusedWithCommand, refusal, sudoWords, type TraceController } from './controller';
import type { DoctorPage } from './doctorPage';
import { ExplorerView } from './explorer';
import { chooseGpu, offerSimulator } from './gpuChoice';
import { pickProcess } from './processPicker';

interface Parts {
  controller: TraceController;
  memory: vscode.Memento;
  dist: string;
  log: vscode.LogOutputChannel;
  doctor: DoctorPage;
}

/** Registers the commands of the manifest. Each failure is one sentence in a notification. */
export function registerCommands(parts: Parts): vscode.Disposable {
  const { controller, log, doctor } = parts;
  const commands: Record<string, (...given: unknown[]) => Promise<void> | void> = {
    start: () => start(parts, () => planOfActiveFile(parts.memory)),
    startConfiguration: () => start(parts, planOfConfiguration),
    attach: pid => attach(parts, pid),
    stop: () => controller.stop(),
    detach: () => controller.stop(),
    pauseRecording: () => controller.setRecording(false),
    resumeRecording: () => controller.setRecording(true),
    openTrace: file => openTrace(controller, file),
    saveTrace: () => saveTrace(controller),
    doctor: () => doctor.show(),
    showPanel: () => showPanel(),
  };
  const registered = Object.entries(commands).map(([name, action]) =>
    vscode.commands.registerCommand(`gpuMemoryTrace.${name}`, async (...given: unknown[]) => {
      try {
        await action(...given);
      } catch (error) {
        const sentence = error instanceof Error ? error.message : String(error);
        if (!(error instanceof Refused)) log.error(error instanceof Error ? error : sentence);
        void showError(sentence, error instanceof RefusedWithCommand ? error.command : null);
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

/** `command`: a line to type, which is shown and can be copied. */
async function showError(sentence: string, command: string | null): Promise<void> {
  if (command === null) return void vscode.window.showErrorMessage(sentence);
  const copy = vscode.l10n.t('Copy Command');
  const answer = await vscode.window.showErrorMessage(`${sentence} ${command}`, copy);
  if (answer === copy) await vscode.env.clipboard.writeText(command);
}

function refuseWhereNothingStarts(controller: TraceController): void {
  if (!vscode.workspace.isTrusted)
    throw new Refused(vscode.l10n.t('Nothing starts in a workspace that is not trusted.'));
  if (!controller.running) return;
  controller.showTerminal();
  throw new Refused(
    controller.attached
      ? vscode.l10n.t('A program is traced already: detach from it first.')
      : vscode.l10n.t('A program is traced already: stop it first.'),
  );
}

/** `given`: a process id, for other extensions and key bindings; else the user is asked. */
async function attach({ controller, dist }: Parts, given: unknown): Promise<void> {
  refuseWhereNothingStarts(controller);
  const missing = tracerMissing(dist);
  if (missing !== null) throw new Refused(missing.message);
  const pid = typeof given === 'number' ? given : (await pickProcess())?.pid;
  if (pid === undefined) return;
  await showPanel();
  const target = await checkTarget(pid, sudoWords(dist, pid));
  if ('sentence' in target) throw refusal(target);
  await controller.attach(target);
}

async function start({ controller }: Parts, makePlan: () => Promise<LaunchPlan | undefined>): Promise<void> {
  refuseWhereNothingStarts(controller);
  const plan = await makePlan();
  if (plan === undefined) return;
  await showPanel();
  const choice = await chooseGpu(plan);
  if ('simulated' in choice) return controller.start(plan, choice.simulated);
  controller.fail(plan.title, choice.missing);
  if (await offerSimulator(choice.missing)) await controller.start(plan, true);
}

async function showPanel(): Promise<void> {
  await vscode.commands.executeCommand(`${ExplorerView.id}.focus`, { preserveFocus: true });
}

async function openTrace(controller: TraceController, given: unknown): Promise<void> {
  const file = given instanceof vscode.Uri ? given : await pickTrace();
  if (file === undefined) return;
  await controller.open(file.fsPath);
  await showPanel();
}

async function pickTrace(): Promise<vscode.Uri | undefined> {
  const picked = await vscode.window.showOpenDialog({
    title: vscode.l10n.t('Open a GPU memory trace'),
    filters: { [vscode.l10n.t('GPU memory traces')]: ['gputrace'] },
  });
  return picked?.[0];
}

async function saveTrace(controller: TraceController): Promise<void> {
  const { title, info } = controller.view();
  if (info === null) throw new Refused(vscode.l10n.t('There is no trace to save.'));
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? controller.cwd;
  const file = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save the GPU memory trace'),
    defaultUri: vscode.Uri.file(join(folder, `${basename(title, '.py')}.gputrace`)),
    filters: { [vscode.l10n.t('GPU memory traces')]: ['gputrace'] },
  });
  if (file === undefined) return;
  await controller.save(file.fsPath);
  void vscode.window.setStatusBarMessage(vscode.l10n.t('Trace saved in {0}', file.fsPath), 5_000);
}
