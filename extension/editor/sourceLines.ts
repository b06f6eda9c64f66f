import { statSync } from 'node:fs';
import * as vscode from 'vscode';
import { editOf, LineShifts } from './lineShifts';
import { attempt } from '../base/attempt';
import { readText } from '../files/files';

/** After an edit, before its effects are shown: those of one key stroke come together. */
const QUIET_MS = 100;

/** Follows edits of source files, so that a line that ran is found where it stands now. */
export class SourceLines implements vscode.Disposable {
  private readonly shifts = new Map<string, LineShifts>();
  /** What was read of a file; `version`: of its document, or when it was written. */
  private readonly texts = new Map<
    string,
    { open: vscode.TextDocument | undefined; version: number; lines: readonly string[] }
  >();
  /** By file, line and time. */
  private readonly originals = new Map<string, string | null>();
  private readonly edited = new vscode.EventEmitter<void>();
  /** Files read differently now, and lines may stand elsewhere. */
  readonly onDidEdit = this.edited.event;
  private timer: NodeJS.Timeout | undefined;
  private readonly subscription: vscode.Disposable;

  constructor() {
    this.subscription = vscode.workspace.onDidChangeTextDocument(event => this.applyEdit(event));
  }

  /** Lines of a file as its editor has them, saved or not, else as they are on disk. */
  text(path: string): readonly string[] {
    const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
    const version = open === undefined ? attempt(() => statSync(path).mtimeMs, 0) : open.version;
    const known = this.texts.get(path);
    if (known?.open === open && known?.version === version) return known.lines;
    const lines = (open?.getText() ?? readText(path)).split(/\r?\n/);
    this.texts.set(path, { open, version, lines });
    return lines;
  }

  /** A line as the program read it from `sinceMs` on; null: the file was written or edited before this was first called. */
  original(path: string, line: number, sinceMs: number): string | null {
    const key = `${path}\n${line}\n${sinceMs}`;
    const known = this.originals.get(key);
    if (known !== undefined) return known;
    const isOld = this.shifts.get(path)?.changedSince(sinceMs) || this.uncertain(path, sinceMs);
    const read = isOld ? null : (this.text(path)[line - 1] ?? null);
    this.originals.set(key, read);
    return read;
  }

  /** Today's line of what ran from `sinceMs` on (real time); null where it was deleted. */
  now(path: string, line: number, sinceMs: number): number | null {
    const shifts = this.shifts.get(path);
    return shifts === undefined ? line : shifts.toNow(line, sinceMs);
  }

  /** Today's line; of one that was deleted, where it stood. */
  nearest(path: string, line: number, sinceMs: number): number {
    for (let at = line; at > 0; at--) {
      const now = this.now(path, at, sinceMs);
      if (now !== null) return now;
    }
    return line;
  }

  /** The file was written since, and no edit was seen: its lines may be others. */
  uncertain(path: string, sinceMs: number): boolean {
    if (this.shifts.get(path)?.changedSince(sinceMs)) return false;
    return attempt(() => statSync(path).mtimeMs > sinceMs, true);
  }

  private applyEdit({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (document.uri.scheme !== 'file' || contentChanges.length === 0) return;
    const path = document.uri.fsPath;
    const shifts = this.shifts.get(path) ?? new LineShifts();
    this.shifts.set(path, shifts);
    // The later a change stands in the file, the earlier it is taken: the lines of the others still hold.
    const changes = [...contentChanges].sort((a, b) => b.rangeOffset - a.rangeOffset);
    const now = Date.now();
    for (const { range, text } of changes) shifts.add(editOf({ start: range.start, end: range.end, text }), now);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.edited.fire();
    }, QUIET_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscription.dispose();
    this.edited.dispose();
  }
}
