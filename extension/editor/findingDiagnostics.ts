import * as vscode from 'vscode';
import { paceOf } from '../protocol/pace';
import { isLeak, type Finding, type FindingVerdict } from '../protocol/verdicts';
import { fixEdit, type SourceOrigin } from './fixEdit';
import type { ShownTrace } from './lineBytes';
import { sourcePath, type SourceLines } from './sourceLines';

/** What is found in the trace that is shown. */
export interface ShownFindings extends ShownTrace {
  readonly verdicts: { verdictsNow(): Promise<{ verdicts: { findings: readonly Finding[] }; stale: boolean }> } | null;
}

const SOURCE = 'GPU Memory Trace';
/** Command of the page that shows a finding; its argument is the finding's id. */
const SHOW = 'gpuMemoryTrace.showFinding';
const REFRESH_MS = 1_000;
const MOST_RELATED = 8;

/** An entry of the Problems panel at the line of each finding, which follows the run and edits of the file. */
export class FindingDiagnostics implements vscode.Disposable, vscode.CodeActionProvider {
  private readonly entries = vscode.languages.createDiagnosticCollection('gpuMemoryTrace');
  private readonly subscriptions: vscode.Disposable[];
  private findings = new Map<vscode.Diagnostic, Finding>();
  private timer: NodeJS.Timeout | undefined;
  private drawn = '';
  private session: unknown = null;

  constructor(
    private readonly shown: ShownFindings,
    private readonly lines: SourceLines,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const kinds = { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.Empty] };
    this.subscriptions = [
      shown.onDidChange(() => this.onShownChange()),
      vscode.workspace.onDidChangeTextDocument(() => this.scheduleRefresh()),
      vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, this, kinds),
    ];
  }

  async provideCodeActions(
    { uri }: vscode.TextDocument,
    range: vscode.Range,
    context: vscode.CodeActionContext,
  ): Promise<vscode.CodeAction[]> {
    const here = context.diagnostics.filter(entry => entry.source === SOURCE);
    if (here.length === 0) return [];
    const found = (this.entries.get(uri) ?? []).flatMap(entry => {
      const finding = this.findings.get(entry);
      return finding === undefined || entry.range.intersection(range) === undefined ? [] : [finding];
    });
    const actions = await Promise.all(found.map(finding => this.actionsFor(finding)));
    for (const action of actions.flat()) action.diagnostics = here;
    return actions.flat();
  }

  private async actionsFor(finding: Finding): Promise<vscode.CodeAction[]> {
    const edit = await fixEdit(finding, this.origin(), this.lines);
    const show = new vscode.CodeAction(vscode.l10n.t('Why is this a leak?'), vscode.CodeActionKind.Empty);
    if (!isLeak(finding)) show.title = vscode.l10n.t('Show in Leak Explorer');
    show.command = { command: SHOW, title: show.title, arguments: [finding.id] };
    if (edit === null || finding.holder?.fix === undefined) return [show];
    const fix = new vscode.CodeAction(
      vscode.l10n.t('Add {0}', finding.holder.fix.adds),
      vscode.CodeActionKind.QuickFix,
    );
    fix.edit = edit;
    fix.isPreferred = true;
    return [fix, show];
  }

  private origin(): SourceOrigin {
    const { cwd, session } = this.shown;
    return { cwd, sinceMs: session?.native.info().startRealtimeMs ?? 0 };
  }

  /** Entries of another trace go at once. */
  private onShownChange(): void {
    if (this.shown.session !== this.session) {
      this.session = this.shown.session;
      this.draw([]);
    }
    this.scheduleRefresh();
  }

  private scheduleRefresh(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.refresh().catch(error => this.log.warn(String(error)));
    }, REFRESH_MS);
  }

  private async refresh(): Promise<void> {
    const { verdicts, session } = this.shown;
    if (verdicts === null) return this.draw([]);
    const judged = await verdicts.verdictsNow();
    if (this.shown.session !== session) return;
    this.draw(judged.verdicts.findings);
    if (judged.stale) this.scheduleRefresh();
  }

  private draw(findings: readonly Finding[]): void {
    const { sinceMs } = this.origin();
    const files = new Map<string, vscode.Diagnostic[]>();
    const ids = new Map<vscode.Diagnostic, Finding>();
    for (const finding of findings) {
      const at = this.placeOf(finding.holder, sinceMs) ?? this.placeOf(finding.place, sinceMs);
      if (at === null) continue;
      const entry = this.entryOf(finding, at, sinceMs);
      files.set(at.uri.fsPath, [...(files.get(at.uri.fsPath) ?? []), entry]);
      ids.set(entry, finding);
    }
    const key = JSON.stringify([...files]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.findings = ids;
    this.entries.clear();
    for (const [path, entries] of files) this.entries.set(vscode.Uri.file(path), entries);
  }

  private entryOf(finding: Finding, at: vscode.Location, sinceMs: number): vscode.Diagnostic {
    const severity = isLeak(finding) ? vscode.DiagnosticSeverity.Warning : vscode.DiagnosticSeverity.Information;
    const pace = finding.verdict === 'leak' ? paceOf(finding, vscode.l10n.t) : [];
    const said = pace.length === 0 ? finding.title : [finding.headline, ...pace].join(' · ');
    const entry = new vscode.Diagnostic(at.range, `${said}\n${finding.suggestion}`, severity);
    entry.source = SOURCE;
    entry.code = finding.verdict satisfies FindingVerdict;
    entry.relatedInformation = this.relatedOf(finding, at, sinceMs);
    return entry;
  }

  /** Who holds it, at the entry itself; and the lines that allocate it, where the entry is at none of them. */
  private relatedOf(
    { holder, places }: Finding,
    entry: vscode.Location,
    sinceMs: number,
  ): vscode.DiagnosticRelatedInformation[] {
    const related: vscode.DiagnosticRelatedInformation[] = [];
    const add = (at: vscode.Location, says: string): void => {
      related.push(new vscode.DiagnosticRelatedInformation(at, says));
    };
    if (holder !== null) add(entry, vscode.l10n.t('Held by {0}', holder.path));
    places.slice(0, MOST_RELATED).forEach((place, i) => {
      const at = this.placeOf(place, sinceMs);
      if (at === null || isSame(at, entry)) return;
      add(at, i === 0 ? vscode.l10n.t('Allocated here') : vscode.l10n.t('Kept as well: allocated here'));
    });
    return related;
  }

  /** Where a line of the trace stands now; null where it has no file, or was deleted. */
  private placeOf(place: Place | null, sinceMs: number): vscode.Location | null {
    if (place === null || place.file === null || place.line === null) return null;
    if (place.file === '' || place.file.startsWith('<') || place.line < 1) return null;
    const path = sourcePath(place.file, this.shown.cwd);
    const line = this.lines.now(path, place.line, sinceMs);
    if (line === null) return null;
    // The end of the line is where the editor ends it.
    return new vscode.Location(vscode.Uri.file(path), new vscode.Range(line - 1, 0, line - 1, Number.MAX_SAFE_INTEGER));
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of [...this.subscriptions, this.entries]) one.dispose();
  }
}

function isSame(a: vscode.Location, b: vscode.Location): boolean {
  return a.uri.fsPath === b.uri.fsPath && a.range.isEqual(b.range);
}

type Place = { file: string | null; line: number | null };
