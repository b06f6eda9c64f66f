// Where the page of checks leads: what mends a gap, and the manual's words on it.
import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import type { DoctorCheck, DoctorLink } from '../../protocol/requests/doctorMessages';

const NAME = 'gpu-memory-trace.gpu-memory-trace';

type Action = (extension: vscode.Uri) => Thenable<unknown>;
const command = (name: string, ...given: string[]): Action => () => vscode.commands.executeCommand(name, ...given);
const manual =
  (...pages: string[]): Action =>
  extension => {
    const uris = pages.map(page => vscode.Uri.joinPath(extension, page));
    const found = uris.find(({ fsPath }) => existsSync(fsPath)) ?? extension;
    return vscode.commands.executeCommand('markdown.showPreview', found);
  };

/** What a link does; `extension`: the extension's own folder. */
const ACTIONS: Record<DoctorLink, Action> = {
  chooseInterpreter: command('gpuMemoryTrace.chooseInterpreter'),
  settings: command('workbench.action.openSettings', `@ext:${NAME}`),
  trySample: command('gpuMemoryTrace.trySample'),
  pytorch: () => vscode.env.openExternal(vscode.Uri.parse('https://pytorch.org/get-started/locally/')),
  requirements: manual('README.md', 'readme.md'), // as it is packed
  attaching: manual('native/uprobe/README.md'),
  traces: manual('extension/capture/README.md'),
};

/** By the name of a check that found something wrong. */
const LINKS: Record<string, DoctorLink[]> = {
  'GPU and driver': ['trySample', 'requirements'],
  libcupti: ['chooseInterpreter', 'requirements'],
  Python: ['chooseInterpreter', 'settings'],
  PyTorch: ['pytorch', 'chooseInterpreter'],
  'trace directory': ['traces'],
  'disk space': ['settings', 'traces'],
  ...Object.fromEntries(['tracer', 'rights', 'BPF', 'BTF', 'probes', 'self-test'].map(name => [name, ['attaching']])),
};

/** The check with its links. */
export function withLinks(check: DoctorCheck): DoctorCheck {
  return check.state === 'ok' ? check : { ...check, links: LINKS[check.name] ?? [] };
}

export async function followLink(link: DoctorLink, extension: vscode.Uri): Promise<void> {
  await ACTIONS[link](extension);
}
