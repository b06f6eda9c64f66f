import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Engine } from '../../protocol/requests/engineRequests';
import { scriptName } from '../../capture/traces/keptTraces';
import { attachCandidates, type Candidate, type ProcessFacts } from '../../capture/processes/processes';
import { joinWords } from '../../capture/launch/shellWords';
import { formatBytes } from '../../text/format';
import { inheritedEnvironment } from '../session/terminal';

interface Item extends vscode.QuickPickItem {
  /** Absent in the item for "there is none". */
  process?: ProcessFacts;
}

/** Lets the user choose among the processes that use CUDA. Undefined: the user went away. */
export function pickProcess(engine: Engine): Promise<ProcessFacts | undefined> {
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = vscode.l10n.t('Attach to a running program');
  picker.placeholder = vscode.l10n.t('Choose a program that uses CUDA');
  picker.matchOnDescription = picker.matchOnDetail = true;
  const refresh: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('refresh'),
    tooltip: vscode.l10n.t('Refresh'),
  };
  picker.buttons = [refresh];
  const list = (): void => void fill(picker, engine);
  return new Promise(done => {
    picker.onDidTriggerButton(list);
    picker.onDidAccept(() => {
      const [item] = picker.selectedItems;
      if (item === undefined) return;
      if (item.process === undefined) return list();
      done(item.process);
      picker.hide();
    });
    picker.onDidHide(() => {
      done(undefined);
      picker.dispose();
    });
    picker.show();
    list();
  });
}

async function fill(picker: vscode.QuickPick<Item>, engine: Engine): Promise<void> {
  picker.busy = true;
  try {
    const found = await attachCandidates(inheritedEnvironment());
    const commands = await engine.request('maskSecrets', { commands: found.map(({ process }) => process.command) });
    const masked = ({ process, ...candidate }: Candidate, i: number): Candidate => {
      return { ...candidate, process: { ...process, command: commands[i] ?? [] } };
    };
    picker.items = itemsOf(found.map(masked));
  } catch (error) {
    picker.items = [nothing(error instanceof Error ? error.message : String(error))];
  } finally {
    picker.busy = false;
  }
}

function itemsOf(candidates: readonly Candidate[]): Item[] {
  if (candidates.length === 0) {
    return [nothing(vscode.l10n.t('Start one and refresh after its first CUDA call. Press Enter to refresh.'))];
  }
  const group = (own: boolean, title: string): Item[] => {
    const items = candidates.filter(candidate => candidate.own === own).map(itemOf);
    return items.length === 0 ? [] : [{ label: title, kind: vscode.QuickPickItemKind.Separator }, ...items];
  };
  return [...group(true, vscode.l10n.t('your programs')), ...group(false, vscode.l10n.t('other users’ programs'))];
}

function nothing(detail: string): Item {
  const label = vscode.l10n.t('No running program has loaded the CUDA driver (libcuda.so)');
  return { label: `$(info) ${label}`, detail, alwaysShow: true };
}

function itemOf({ process, own, gpuBytes }: Candidate): Item {
  const about = [vscode.l10n.t('PID {0}', process.pid), process.user];
  if (gpuBytes !== null) about.push(formatBytes(gpuBytes));
  const [program = '', ...words] = process.command;
  const icon = own ? '$(pulse)' : '$(lock)';
  return {
    label: `${icon} ${scriptName(process.command)}`,
    description: about.join(' · '),
    detail: joinWords([basename(program), ...words]),
    process,
  };
}
