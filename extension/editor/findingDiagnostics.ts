import * as vscode from 'vscode';
import { otherHolders, shareText } from '../text/holderShare';
import { paceOf } from '../text/pace';
import { vocabulary } from '../text/vocabulary';
import { isGrowth, isLeak, type Finding } from '../protocol/verdicts';
import { lineNow, shownPlace, type Place } from './findingPlace';
import { fixEdit, isFixed, originOf } from './fixEdit';
import { latestRuns } from '../files/tracedProgram';
import type { SourceLines } from './sourceLines';
import { statementRange } from './statement';
import type { WindowTrace, WindowTraces } from './windowTraces';

const SOURCE = 'GPU Memory Trace';
/** Command of the page that shows a finding; its arguments are the ids of the finding and of its trace. */
const SHOW = 'gpuMemoryTrace.showFinding';
const MOST_RELATED = 8;
const NONE: readonly Finding[] = [];

/**
 * An entry of the Problems panel at the line of each finding of each program's latest trace, and of the exception that ended it; it follows the
 * run and edits of the file.
 */
export class FindingDiagnostics implements vscode.Disposable, vscode.CodeActionProvider {
  private readonly entries = vscode.languages.createDiagnosticCollection('gpuMemoryTrace');
  private readonly subscriptions: vscode.Disposable[];
  private findings = new Map<vscode.Diagnostic, Found>();
  private drawn = '';
  /** The latest runs, each with what was found in it, and with the exception that ended it. */
  private latest: readonly (readonly [WindowTrace, readonly Finding[], string | undefined])[] = [];

  constructor(
    private readonly traces: WindowTraces,
    private readonly lines: SourceLines,
  ) {
    const kinds = { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.Empty] };
    this.subscriptions = [
      traces.onDidChangeBeside(() => this.onChange()),
      lines.onDidEdit(() => this.refresh()),
      vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, this, kinds),
    ];
  }

  /** Anywhere on its lines, also before the statement: there a click on a line of the page puts the cursor. */
  async provideCodeActions({ uri }: vscode.TextDocument, { start, end }: vscode.Range): Promise<vscode.CodeAction[]> {
    const here = (this.entries.get(uri) ?? []).filter(
      ({ range }) => range.start.line <= end.line && range.end.line >= start.line,
    );
    const actions = here.map(async entry => {
      const found = this.findings.get(entry);
      const made = found === undefined ? [] : await this.actionsFor(found);
      for (const action of made) action.diagnostics = [entry];
      return made;
    });
    return (await Promise.all(actions)).flat();
  }

  private async actionsFor({ finding, traced }: Found): Promise<vscode.CodeAction[]> {
    const edit = await fixEdit(finding, originOf(traced), this.lines);
    const show = new vscode.CodeAction(vscode.l10n.t('Why is this a leak?'), vscode.CodeActionKind.Empty);
    if (!isLeak(finding)) show.title = vscode.l10n.t('Show in Leak Explorer');
    show.command = { command: SHOW, title: show.title, arguments: [finding.id, traced.id] };
    if (edit === null || finding.holder?.fix === undefined) return [show];
    const fix = new vscode.CodeAction(
      vscode.l10n.t('Add {0}', finding.holder.fix.adds),
      vscode.CodeActionKind.QuickFix,
    );
    fix.edit = edit;
    fix.isPreferred = true;
    return [fix, show];
  }

  /** An entry is what the card of its finding is, at every moment. */
  private onChange(): void {
    const latest = latestRuns(this.traces.all).map(
      traced => [traced, traced.facts?.findings ?? NONE, traced.raised?.sentence] as const,
    );
    const isSame = ([traced, found, raised]: (typeof latest)[0], i: number): boolean =>
      this.latest[i]?.[0] === traced && this.latest[i][1] === found && this.latest[i][2] === raised;
    if (latest.length === this.latest.length && latest.every(isSame)) return;
    this.latest = latest;
    this.refresh();
  }

  private refresh(): void {
    this.draw(this.latest.flatMap(([traced, found]) => found.map(finding => ({ finding, traced }))));
  }

  private draw(found: readonly Found[]): void {
    const files = new Map<string, vscode.Diagnostic[]>();
    const entries = new Map<vscode.Diagnostic, Found>();
    for (const one of found) {
      const { finding, traced } = one;
      if (finding.verdict === 'slow' || isFixed(finding, originOf(traced), this.lines)) continue;
      const at = this.placeOf(shownPlace(finding, originOf(traced), this.lines), traced);
      if (at === null) continue;
      const entry = this.entryOf(finding, at, traced);
      files.set(at.uri.fsPath, [...(files.get(at.uri.fsPath) ?? []), entry]);
      entries.set(entry, one);
    }
    for (const [traced] of this.latest) {
      const at = this.placeOf(traced.raised, traced);
      if (at === null || traced.raised === null) continue;
      const entry = new vscode.Diagnostic(at.range, traced.raised.sentence, vscode.DiagnosticSeverity.Error);
      entry.source = SOURCE;
      files.set(at.uri.fsPath, [...(files.get(at.uri.fsPath) ?? []), entry]);
    }
    const key = JSON.stringify([[...files], found.map(({ finding, traced }) => [finding.id, traced.id])]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.findings = entries;
    this.entries.clear();
    for (const [path, entries] of files) this.entries.set(vscode.Uri.file(path), entries);
  }

  private entryOf(finding: Finding, at: vscode.Location, traced: WindowTrace): vscode.Diagnostic {
    const { Error: error, Warning, Information } = vscode.DiagnosticSeverity;
    const severity = finding.failure?.wentOn === false ? error : isLeak(finding) ? Warning : Information;
    const pace = isGrowth(finding) ? paceOf(finding, vscode.l10n.t) : [];
    const text = pace.length === 0 ? finding.title : [finding.headline, ...pace].join(' · ');
    // Problems shows Markdown as it is written.
    const advice = finding.suggestion.replace(/`([^`]*)`/g, '‘$1’');
    const entry = new vscode.Diagnostic(at.range, `${text}\n${advice}`, severity);
    // No code: VS Code writes it right behind the source, in parentheses.
    entry.source = `${SOURCE} · ${vocabulary(vscode.l10n.t).findings[finding.verdict].name}`;
    entry.relatedInformation = this.relatedOf(finding, at, traced);
    return entry;
  }

  /** The holder, at the entry itself; and the lines that allocate it, the entry's own first, unless it is the only one. */
  private relatedOf(
    finding: Finding,
    entry: vscode.Location,
    traced: WindowTrace,
  ): vscode.DiagnosticRelatedInformation[] {
    const { holder, places } = finding;
    const related: vscode.DiagnosticRelatedInformation[] = [];
    const add = (at: vscode.Location, message: string): void => {
      related.push(new vscode.DiagnosticRelatedInformation(at, message));
    };
    if (holder !== null) {
      const share = shareText(holder, vscode.l10n.t);
      const held = vscode.l10n.t('Held by {0}', holder.path);
      add(entry, share === null ? held : `${held}. ${share}`);
      for (const part of otherHolders(holder)) {
        const at = this.placeOf(part, traced);
        if (at !== null && !isSame(at, entry)) add(at, vscode.l10n.t('Also held by {0}', part.path));
      }
    }
    const made = places.map(place => ({ at: this.placeOf(place, traced), bytesPerStep: place.bytesPerStep }));
    const [own, others] = [made.filter(({ at }) => isSame(at, entry)), made.filter(({ at }) => !isSame(at, entry))];
    if (others.length === 0) return related;
    const addMade = (at: vscode.Location, words: string, bytesPerStep: number): void => {
      const [rate] = paceOf({ ...finding, bytesPerStep }, vscode.l10n.t);
      add(at, rate === undefined ? words : `${words}: ${rate}`);
    };
    const all = [...own, ...others];
    const listed = all.filter(({ at }) => at !== null).slice(0, MOST_RELATED);
    for (const { at, bytesPerStep } of listed) if (at) addMade(at, vscode.l10n.t('Allocated here'), bytesPerStep);
    const rest = all.filter(one => !listed.includes(one));
    const words =
      rest.length === 1 ? vscode.l10n.t('And 1 more line') : vscode.l10n.t('And {0} more lines', rest.length);
    if (rest.length > 0)
      addMade(
        entry,
        words,
        rest.reduce((sum, { bytesPerStep }) => sum + bytesPerStep, 0),
      );
    return related;
  }

  /** The statement of a line of the trace, where it stands now. */
  private placeOf(place: Place | null, traced: WindowTrace): vscode.Location | null {
    const found = lineNow(place, originOf(traced), this.lines);
    if (found === null) return null;
    const [{ path }, first] = [found, found.line - 1];
    const { column, lines, endColumn } = statementRange(this.lines.text(path).slice(first));
    return new vscode.Location(vscode.Uri.file(path), new vscode.Range(first, column, first + lines, endColumn));
  }

  dispose(): void {
    for (const one of [...this.subscriptions, this.entries]) one.dispose();
  }
}

function isSame(a: vscode.Location | null, b: vscode.Location): boolean {
  return a !== null && a.uri.fsPath === b.uri.fsPath && a.range.isEqual(b.range);
}

type Found = { finding: Finding; traced: WindowTrace };
