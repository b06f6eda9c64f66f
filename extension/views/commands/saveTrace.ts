import { join } from 'node:path';
import * as vscode from 'vscode';
import { EXPORT_EXTENSIONS, EXPORT_FORMATS, type ExportFormat } from '../../protocol/exportFormats';
import { exportFile } from '../session/exportFile';
import { Refused } from '../session/refused';
import type { Sessions } from '../session/sessions';

type Format = 'gputrace' | ExportFormat;

/** Writes the shown trace to a file. `given`: format and file, for buttons, other extensions and key bindings; else the user chooses. */
export async function saveTrace({ shown }: Sessions, given: readonly unknown[]): Promise<void> {
  if (!shown?.facts) throw new Refused(vscode.l10n.t('No trace is open. Open or record one first.'));
  const formats: Format[] = ['gputrace', ...EXPORT_FORMATS];
  const format = formats.find(name => name === given[0]) ?? (await chooseFormat());
  if (format === undefined) return;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? shown.folders.cwd;
  const name = shown.title.replace(/\.(py|gputrace|pickle)$/, '');
  const file = given[1] instanceof vscode.Uri ? given[1] : await chooseFile(format, join(folder, name));
  if (file === undefined) return;
  if (format === 'gputrace') {
    await shown.save(file.fsPath);
    void vscode.window.setStatusBarMessage(vscode.l10n.t('Trace saved to {0}', file.fsPath), 5_000);
  } else await exportFile(shown, format, file);
}

async function chooseFormat(): Promise<Format | undefined> {
  const texts: Record<Format, [label: string, detail: string]> = {
    gputrace: [vscode.l10n.t('GPU memory trace'), vscode.l10n.t('The complete trace, to open here later')],
    html: [vscode.l10n.t('Web page'), vscode.l10n.t('This page as one file, for any browser')],
    'pytorch-snapshot': [
      vscode.l10n.t('PyTorch snapshot'),
      vscode.l10n.t('For PyTorch’s memory viewer, pytorch.org/memory_viz'),
    ],
    perfetto: ['Perfetto', vscode.l10n.t('Counters, the largest allocations and steps, for ui.perfetto.dev')],
    pprof: ['pprof', vscode.l10n.t('Live, peak and allocated bytes by stack, for go tool pprof and speedscope.app')],
    parquet: ['Parquet', vscode.l10n.t('One row per allocation, for pandas, polars and DuckDB')],
    csv: ['CSV', vscode.l10n.t('One row per allocation, for spreadsheets')],
  };
  const items = Object.entries(texts).map(([format, [label, detail]]) => {
    const known = format as Format;
    return { label, detail, description: `.${extensionOf(known)}`, format: known };
  });
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Save the GPU memory trace'),
    placeHolder: vscode.l10n.t('Choose a format'),
    matchOnDetail: true,
  });
  return picked?.format;
}

const extensionOf = (format: Format): string => (format === 'gputrace' ? format : EXPORT_EXTENSIONS[format]);

function chooseFile(format: Format, path: string): Thenable<vscode.Uri | undefined> {
  const extension = extensionOf(format);
  return vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save the GPU memory trace'),
    defaultUri: vscode.Uri.file(`${path}.${extension}`),
    filters: { [format === 'gputrace' ? vscode.l10n.t('GPU memory traces') : format]: [extension] },
  });
}
