import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { diagnose } from '../capture/checks';
import type { LaunchPlan } from '../capture/launchConfiguration';
import { doctorText } from '../capture/doctorText';
import { loadNative } from '../engine/addon';
import { planOfActiveFile, planOfConfiguration } from './chooseLaunch';
import { Refused, type TraceController } from './controller';
import { ExplorerView } from './explorer';
import { chooseGpu, offerSimulator } from './gpuChoice';
import { inheritedEnvironment } from './terminal';

interface Parts {
  controller: TraceController;
  memory: vscode.Memento;
  dist: string;
  log: vscode.LogOutputChannel;
}

/** Registers the commands of the manifest. Each failure is one sentence in a notification. */
export function registerCommands(parts: Parts): vscode.Disposable {
  const { controller, log } = parts;
  const commands: Record<string, (...given: unknown[]) => Promise<void> | void> = {
    start: () => start(parts, () => planOfActiveFile(parts.memory)),
    startConfiguration: () => start(parts, planOfConfiguration),
    stop: () => controller.stop(),
    pauseRecording: () => controller.setRecording(false),
    resumeRecording: () => controller.setRecording(true),
    openTrace: file => openTrace(controller, file),
    saveTrace: () => saveTrace(controller),
    doctor: () => doctor(parts),
    showPanel: () => showPanel(),
  };
  const registered = Object.entries(commands).map(([name, action]) =>
    vscode.commands.registerCommand(`gpuMemoryTrace.${name}`, async (...given: unknown[]) => {
      try {
        await action(...given);
      } catch (error) {
        const sentence = error instanceof Error ? error.message : String(error);
        if (!(error instanceof Refused)) log.error(error instanceof Error ? error : sentence);
        void vscode.window.showErrorMessage(sentence);
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

async function start({ controller }: Parts, makePlan: () => Promise<LaunchPlan | undefined>): Promise<void> {
  if (!vscode.workspace.isTrusted)
    throw new Refused(vscode.l10n.t('Nothing starts in a workspace that is not trusted.'));
  if (controller.running) {
    controller.showTerminal();
    throw new Refused(vscode.l10n.t('A program is traced already: stop it first.'));
  }
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

async function doctor({ dist, log }: Parts): Promise<void> {
  const loaded = loadNative(dist);
  const diagnosis = await diagnose(dist, inheritedEnvironment(), 'error' in loaded ? loaded.error : null);
  for (const line of doctorText(diagnosis).split('\n')) log.info(line);
  log.show(true);
}
