import * as vscode from 'vscode';

/** The figures of a leak at its line. */
export interface LeakLine {
  /** From 0. */
  line: number;
  text: string;
}

/** The figures of a leak above its line, where at the line's end they would be out of sight. */
export class LeakLenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  /** By path. */
  private readonly shown = new Map<string, readonly LeakLine[]>();

  show(path: string, lines: readonly LeakLine[]): void {
    if (JSON.stringify(lines) === JSON.stringify(this.shown.get(path) ?? [])) return;
    this.shown.set(path, lines);
    this.changed.fire();
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const tooltip = vscode.l10n.t('Show Leak Explorer');
    return (this.shown.get(uri.fsPath) ?? []).map(({ line, text: title }) => {
      const command = { title, tooltip, command: 'gpuMemoryTrace.showPanel' };
      return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), command);
    });
  }

  dispose(): void {
    this.changed.dispose();
  }
}
