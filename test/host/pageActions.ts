// Helpers of the host tests for the page and for the jobs that they trace.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { driverScript } from '../workloads/driverScript.mjs';
import { attribute, fill, press, rows, shot, texts, until, type Row } from './window';

export const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
export const picture = (name: string): Promise<void> => shot(join(process.env.SCREENSHOTS ?? workspace, `${name}.png`));
/** The element that names the page's phase and layer. */
export const PAGE = '[data-layer][data-phase]';

export { FIRST } from '../workloads/driverScript.mjs';

/** Uses the driver alone; what `body` keeps stands in the table. */
export function writeScript(name: string, body: string): string {
  const file = join(workspace, name);
  writeFileSync(file, driverScript(body));
  return file;
}

/** Waits for a phase; what the page shows instead is in the error. */
export async function reached(expected: string): Promise<void> {
  await until(`the page to show ${expected}`, async () => {
    if ((await attribute(PAGE, 'data-phase')) === expected) return true;
    throw new Error(`It shows: ${(await texts(PAGE)).join(' ')}`);
  });
}

/** Waits for a row of this file and line. */
export function rowAt(file: string, line: number): Promise<Row> {
  return until(`a row for line ${line}`, async () =>
    (await rows()).find(row => row.file === file && row.line === line),
  );
}

/** What the palette calls a command of the extension. */
export function titleOf(wanted: string): string {
  const extension = vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace');
  const facts = extension?.packageJSON as
    | { contributes: { commands: { command: string; title: string }[] } }
    | undefined;
  return facts?.contributes.commands.find(({ command }) => command === wanted)?.title ?? '';
}

/** The field of the palette, and of a question. */
export const INPUT = '.quick-input-widget:not([style*="display: none"]) input[type=text]';

/** Runs the palette's action on the file; with `words` its arguments are asked for, and these are the answer. */
export async function trace(file: string, words?: string): Promise<void> {
  await vscode.window.showTextDocument(vscode.Uri.file(file));
  const command = `gpuMemoryTrace.${words === undefined ? 'start' : 'startWithArguments'}`;
  const started = Promise.resolve(vscode.commands.executeCommand(command));
  if (words !== undefined) await until('the question for arguments', () => fill(INPUT, words).then(() => true));
  if (words !== undefined) await press(INPUT, 'Enter');
  await started;
}

const THEMES = { dark: 'Default Dark Modern', light: 'Default Light Modern', hc: 'Default High Contrast' };

/** For people to look at, where `HOST_PICTURES` is set: a picture in each kind of theme, `name-dark`, `name-light`, `name-hc`. */
export async function inThemes(name: string): Promise<void> {
  if (!process.env.HOST_PICTURES) return;
  const settings = vscode.workspace.getConfiguration('workbench');
  const before = settings.inspect<string>('colorTheme')?.workspaceValue;
  for (const [kind, theme] of Object.entries(THEMES)) {
    await settings.update('colorTheme', theme, vscode.ConfigurationTarget.Workspace);
    await new Promise(done => setTimeout(done, 500));
    await picture(`${name}-${kind}`);
  }
  await settings.update('colorTheme', before, vscode.ConfigurationTarget.Workspace);
}

/** The side panel with nothing in it, the table chosen: what earlier tests left is stopped and closed. */
export async function freshPage(): Promise<void> {
  await vscode.commands.executeCommand('gpuMemoryTrace.explorer.focus');
  const first = await until('the page', () => attribute(PAGE, 'data-phase'));
  if (first !== 'empty' && first !== 'failed') await press('[data-tab=lines]', 'Enter');
  await until('an empty page', async () => {
    const phase = await attribute(PAGE, 'data-phase');
    if (phase === 'empty') return true;
    await vscode.commands.executeCommand(`gpuMemoryTrace.${phase === 'running' ? 'stop' : 'closeSession'}`);
    // Another session of the same phase may come after it.
    await until('another phase', async () => (await attribute(PAGE, 'data-phase')) !== phase, 1000).catch(() => {});
    return false;
  });
}
