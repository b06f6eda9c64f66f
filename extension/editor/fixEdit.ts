import * as vscode from 'vscode';
import { sourcePath } from '../files/sourcePath';
import { readSinceMs } from '../files/tracedProgram';
import type { SourceFolders } from '../protocol/cwd';
import type { TraceFacts } from '../protocol/requests/engineRequests';
import type { Finding } from '../protocol/verdicts';
import { openLine } from './openLine';
import { readsFixed } from './statement';
import type { SourceLines } from './sourceLines';
import type { WindowTrace } from './windowTraces';

/** Where the source files of a trace are, and when the program read them. */
export interface SourceOrigin {
  folders: SourceFolders;
  sinceMs: number;
}

export function originOf({ folders, facts }: { folders: SourceFolders; facts: TraceFacts | null }): SourceOrigin {
  return { folders, sinceMs: readSinceMs({ facts }) };
}

/** The edit that writes a finding's fix; null: it has none, or its file has another text there by now. */
export async function fixEdit(
  { holder }: Finding,
  { folders, sinceMs }: SourceOrigin,
  lines: SourceLines,
): Promise<vscode.WorkspaceEdit | null> {
  if (!holder?.fix || holder.file === null) return null;
  const path = sourcePath(holder.file, folders);
  const [first, last] = [lines.now(path, holder.fix.line, sinceMs), lines.now(path, holder.fix.endLine, sinceMs)];
  if (first === null || last === null) return null;
  // Null: the file is gone.
  const document = await vscode.workspace.openTextDocument(path).then(undefined, () => null);
  const { column, endColumn, before } = holder.fix;
  const range = new vscode.Range(first - 1, column - 1, last - 1, endColumn - 1);
  if (document?.getText(range).replaceAll('\r\n', '\n') !== before) return null;
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, range, holder.fix.after);
  return edit;
}

/** Whether a finding's fix, or another one, is in its file, saved or not: what the run before it leaked is mended. */
export function isFixed(
  { holder, suggestion }: Finding,
  { folders, sinceMs }: SourceOrigin,
  lines: SourceLines,
): boolean {
  if (!holder?.file || !holder.line) return false;
  const path = sourcePath(holder.file, folders);
  const line = holder.fix?.line ?? holder.line;
  const original = lines.original(path, line, sinceMs);
  const now = lines.now(path, line, sinceMs);
  if (now === null) return false;
  const text = lines.text(path);
  if (holder.fix && readsFixed(text.slice(now - 1), holder.fix)) return true;
  const release = suggestion.includes('.cpu()') ? OFF_GPU : WITHOUT_GRAPH;
  return original !== null && countOf(release, text[now - 1] ?? '') > countOf(release, original);
}

/** What a line has that makes a value of a tensor or moves it, and what frees at least its graph. */
const OFF_GPU = /\.(?:item|cpu|tolist)\(|\bfloat\(/g;
const WITHOUT_GRAPH = new RegExp(String.raw`\.detach\(|${OFF_GPU.source}`, 'g');
const countOf = (pattern: RegExp, line: string): number => line.match(pattern)?.length ?? 0;

/** Ids of the findings of a trace whose fix is in its file. */
export function fixedIn(traced: WindowTrace | null, lines: SourceLines): string[] {
  const found = traced?.facts?.findings ?? [];
  return traced === null ? [] : found.filter(one => isFixed(one, originOf(traced), lines)).map(({ id }) => id);
}

/** Writes a finding's fix into its file, where undo takes it back, and shows the line. `room`: as `openLine`. Rejects with one sentence. */
export async function applyFix(
  finding: Finding,
  { folders, sinceMs }: SourceOrigin,
  lines: SourceLines,
  room: number,
): Promise<void> {
  const { file, line } = finding.holder ?? {};
  const edit = await fixEdit(finding, { folders, sinceMs }, lines);
  if (edit === null || !file || !line || !(await vscode.workspace.applyEdit(edit)))
    throw new Error(vscode.l10n.t('The line has changed, so the fix was not applied.'));
  await openLine(file, lines.nearest(sourcePath(file, folders), line, sinceMs), folders, { room });
}
