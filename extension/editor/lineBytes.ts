import * as vscode from 'vscode';
import type { TraceSession } from '../engine/session';
import type { Layer } from '../protocol/trace';
import { factsByFile, heatOf, hoverLines, lineText, type LineFacts } from './lineFacts';
import { sourcePath, type SourceLines } from './sourceLines';
import { heatSvg, sparkSvg } from './sparkSvg';

/** The trace that is shown. */
export interface ShownTrace {
  readonly onDidChange: vscode.Event<void>;
  readonly session: TraceSession | null;
  readonly cwd: string;
}
/** What is known of a line beyond its bytes. */
export interface LineVerdicts {
  layer(): Layer;
  bytesPerStep(file: string, line: number): number;
  /** Another one once something else is known. */
  version(): unknown;
}

const SETTING = 'editor.lineBytes';
const REFRESH_MS = 500;
const MOST_LINES = 5_000;
const LEVELS = 5;
const HEAT = { light: '#b5200d', dark: '#f48771' };

/** Bytes at the ends of the lines that allocate, heat in the gutter, a hover: in every visible editor of a traced file. */
export class LineBytes implements vscode.Disposable, vscode.HoverProvider {
  private readonly text = vscode.window.createTextEditorDecorationType({
    after: { margin: '0 0 0 3em', color: new vscode.ThemeColor('editorCodeLens.foreground') },
  });
  private readonly growing = vscode.window.createTextEditorDecorationType({
    after: { margin: '0 0 0 3em', color: new vscode.ThemeColor('editorError.foreground') },
    overviewRulerColor: new vscode.ThemeColor('editorError.foreground'),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
  });
  private readonly heat = Array.from({ length: LEVELS }, (_, level) => heatType(level));
  private readonly subscriptions: vscode.Disposable[];
  private files = new Map<string, LineFacts[]>();
  private revision = -1;
  private judged: unknown = null;
  private startRealtimeMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly shown: ShownTrace,
    private readonly lines: SourceLines,
    private readonly verdicts: LineVerdicts,
  ) {
    const later = (): void => this.later();
    this.subscriptions = [
      shown.onDidChange(later),
      vscode.window.onDidChangeVisibleTextEditors(later),
      vscode.workspace.onDidChangeTextDocument(later),
      vscode.workspace.onDidChangeConfiguration(later),
      vscode.languages.registerHoverProvider({ language: 'python', scheme: 'file' }, this),
    ];
  }

  private get on(): boolean {
    return vscode.workspace.getConfiguration('gpuMemoryTrace').get(SETTING, true);
  }

  /** Switches the text at the line ends on or off. */
  async toggle(): Promise<void> {
    const settings = vscode.workspace.getConfiguration('gpuMemoryTrace');
    await settings.update(SETTING, !this.on, vscode.ConfigurationTarget.Global);
  }

  provideHover(document: vscode.TextDocument, { line }: vscode.Position): vscode.Hover | null {
    if (!this.on) return null;
    const path = document.uri.fsPath;
    const facts = this.factsOf(path).find(one => this.lines.now(path, one.line, this.startRealtimeMs) === line + 1);
    if (facts === undefined) return null;
    const dark = vscode.window.activeColorTheme.kind !== vscode.ColorThemeKind.Light;
    const colour = facts.bytesPerStep > 0 ? (dark ? HEAT.dark : HEAT.light) : dark ? '#75beff' : '#1a5fb4';
    const picture = `![${vscode.l10n.t('Live bytes over the run')}](${sparkSvg(facts.spark, colour)})`;
    const title = `**${vscode.l10n.t('GPU memory of this line')}**`;
    const open = `[${vscode.l10n.t('Show Leak Explorer')}](command:gpuMemoryTrace.showPanel)`;
    const uncertain = this.lines.uncertain(path, this.startRealtimeMs)
      ? [vscode.l10n.t('The file was changed since the program began: the line may be another.')]
      : [];
    const content = new vscode.MarkdownString([title, ...hoverLines(facts), ...uncertain, picture, open].join('\n\n'));
    content.isTrusted = { enabledCommands: ['gpuMemoryTrace.showPanel'] };
    return new vscode.Hover(content, document.lineAt(line).range);
  }

  private later(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.draw();
    }, REFRESH_MS);
  }

  private draw(): void {
    if (this.on) this.read();
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme === 'file') this.decorate(editor);
    }
  }

  /** Asks the trace, where it changed since. */
  private read(): void {
    const { session, cwd } = this.shown;
    const info = session?.native.info();
    if (session === null || info === undefined) {
      this.files = new Map();
      this.revision = -1;
      return;
    }
    if (info.startRealtimeMs !== this.startRealtimeMs) this.startRealtimeMs = info.startRealtimeMs;
    else if (info.revision === this.revision && this.verdicts.version() === this.judged) return;
    this.revision = info.revision;
    this.judged = this.verdicts.version();
    const window = session.native.sites({
      layer: this.verdicts.layer(),
      groupBy: 'line',
      sort: 'peakBytes',
      descending: true,
      includeDead: true,
      from: 0,
      to: MOST_LINES,
    });
    const found = factsByFile(window, (file, line) => this.verdicts.bytesPerStep(file, line));
    this.files = new Map([...found].map(([file, facts]) => [sourcePath(file, cwd), facts]));
  }

  private factsOf(path: string): LineFacts[] {
    return this.files.get(path) ?? [];
  }

  private decorate(editor: vscode.TextEditor): void {
    const path = editor.document.uri.fsPath;
    const facts = this.on ? this.factsOf(path) : [];
    const most = Math.max(0, ...[...this.files.values()].flat().map(one => one.liveBytes));
    const plain: vscode.DecorationOptions[] = [];
    const grown: vscode.DecorationOptions[] = [];
    const heat: vscode.Range[][] = this.heat.map(() => []);
    for (const one of facts) {
      const line = this.lines.now(path, one.line, this.startRealtimeMs);
      if (line === null || line > editor.document.lineCount) continue;
      const { range } = editor.document.lineAt(line - 1);
      const end = new vscode.Range(range.end, range.end);
      const options = { range: end, renderOptions: { after: { contentText: lineText(one) } } };
      (one.bytesPerStep > 0 ? grown : plain).push(options);
      if (one.liveBytes > 0) heat[heatOf(one.liveBytes, most, LEVELS)]?.push(range);
    }
    editor.setDecorations(this.text, plain);
    editor.setDecorations(this.growing, grown);
    this.heat.forEach((type, level) => editor.setDecorations(type, heat[level] ?? []));
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of [...this.subscriptions, this.text, this.growing, ...this.heat]) one.dispose();
  }
}

function heatType(level: number): vscode.TextEditorDecorationType {
  const icon = (colour: string): { gutterIconPath: vscode.Uri; gutterIconSize: string } => ({
    gutterIconPath: vscode.Uri.parse(heatSvg(level, LEVELS, colour)),
    gutterIconSize: 'contain',
  });
  return vscode.window.createTextEditorDecorationType({ light: icon(HEAT.light), dark: icon(HEAT.dark) });
}
