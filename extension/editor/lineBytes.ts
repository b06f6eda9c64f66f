import * as vscode from 'vscode';
import { lineHue, SHADE_COUNT, type LineHue } from '../protocol/lineHue';
import { SHOWS_NOW } from '../protocol/requests/moment';
import type { LineFacts } from '../protocol/requests/engineRequests';
import { isGrowth, isLeak } from '../protocol/verdicts';
import { heatOf, hoverLines, lineText, type LineLeak } from '../report/lines/lineFacts';
import { lineNow, shownPlace } from './findingPlace';
import { applyFix, fixEdit, isFixed, originOf } from './fixEdit';
import { readSinceMs } from '../files/tracedProgram';
import type { SourceLines } from './sourceLines';
import type { WindowTraces } from './windowTraces';
import { hueColours } from './hueColours';
import { heatSvg, sparkSvg } from './sparkSvg';
import { plain } from '../text/markdown';
import { remembered } from '../base/maps';

const SETTING = 'editor.lineBytes';
const PYTHON = { language: 'python', scheme: 'file' };
const REFRESH_MS = 500;
const LEVELS = 5;
const NOTHING_SHOWN = { folders: { cwd: '/', beside: null }, facts: null };
/** A line that only keeps what others allocate. */
const ALLOCATES_NOTHING = { liveBytes: 0, liveCount: 0, peakBytes: 0, allocations: 0, frees: 0, spark: [] };

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
  private readonly bars = new GutterBars(LEVELS);
  private readonly subscriptions: vscode.Disposable[];
  private files: ReadonlyMap<string, LineFacts[]> = new Map();
  /** Live bytes of the biggest line of all. */
  private most = 0;
  /** What each editor shows, by kind of decoration. */
  private readonly drawn = new WeakMap<vscode.TextEditor, Map<vscode.TextEditorDecorationType, string>>();
  /** The last query: of which trace, as of when, about which files. */
  private known: readonly unknown[] = [];
  /** Of which moment the bytes are. */
  private moment = SHOWS_NOW;
  /** Since when the program read the files. */
  private sinceMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly traces: WindowTraces,
    private readonly lines: SourceLines,
  ) {
    const scheduleDraw = (): void => this.scheduleDraw();
    this.subscriptions = [
      traces.onDidChangeBeside(() => this.draw()),
      vscode.window.onDidChangeVisibleTextEditors(scheduleDraw),
      lines.onDidEdit(scheduleDraw),
      vscode.workspace.onDidChangeConfiguration(scheduleDraw),
      vscode.languages.registerHoverProvider(PYTHON, this),
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

  async provideHover(document: vscode.TextDocument, at: vscode.Position): Promise<vscode.Hover | null> {
    if (!this.on) return null;
    const { line } = at;
    const path = document.uri.fsPath;
    const leaks = this.leaks();
    const facts = this.shownOn(path, leaks).find(one => this.lines.now(path, one.line, this.sinceMs) === line + 1);
    if (facts === undefined) return null;
    const dark = vscode.window.activeColorTheme.kind !== vscode.ColorThemeKind.Light;
    const colour = hueColours(this.hueOf(facts))[dark ? 'dark' : 'light'];
    const spark = `![${vscode.l10n.t('Live memory over the run')}](${sparkSvg(facts.spark, colour)})`;
    const picture = facts.spark.length === 0 ? [] : [spark];
    const title = `**${vscode.l10n.t('GPU memory of this line')}**`;
    const open = `[${vscode.l10n.t('Show Leak Explorer')}](command:gpuMemoryTrace.showPanel)`;
    const uncertain = this.lines.uncertain(path, this.sinceMs)
      ? [vscode.l10n.t('The file has changed since the program started, so the line may no longer match.')]
      : [];
    const leak = leaks.get(facts.name) ?? null;
    const links = [...(await this.fixLink(leak)), open].join(' · ');
    const besideProblem = vscode.languages
      .getDiagnostics(document.uri)
      .some(({ range, message }) => range.contains(at) && leak !== null && message.startsWith(leak.finding.headline));
    const all = [title, ...hoverLines(facts, leak, this.moment, besideProblem), ...uncertain, ...picture, links];
    const content = new vscode.MarkdownString(all.join('\n\n'));
    content.isTrusted = { enabledCommands: ['gpuMemoryTrace.showPanel', 'gpuMemoryTrace.applyFix'] };
    return new vscode.Hover(content, document.lineAt(line).range);
  }

  /** `Add .detach()`, as on the card, where the line still reads as it ran. */
  private async fixLink(leak: LineLeak | null): Promise<string[]> {
    const { shown } = this.traces;
    const fix = leak?.finding.holder?.fix;
    const edit = shown && leak && (await fixEdit(leak.finding, originOf(shown), this.lines));
    if (!edit || !fix) return [];
    const command = `command:gpuMemoryTrace.applyFix?${encodeURIComponent(JSON.stringify([leak.finding.id]))}`;
    return [`[${plain(vscode.l10n.t('Add {0}', fix.adds))}](${command})`];
  }

  /** Writes the fix of a finding of the shown trace. Rejects with a sentence. */
  async applyFix(finding: unknown): Promise<void> {
    const { shown } = this.traces;
    const found = shown?.facts?.findings?.find(({ id }) => id === finding);
    if (!shown || !found) throw new Error(vscode.l10n.t('This finding is outdated. Memory has changed.'));
    await applyFix(found, originOf(shown), this.lines, 0);
  }

  private scheduleDraw(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.draw();
    }, REFRESH_MS);
  }

  private draw(): void {
    const editors = vscode.window.visibleTextEditors.filter(({ document }) => document.uri.scheme === 'file');
    const decorate = (): void => editors.forEach(editor => this.decorate(editor));
    if (!this.on) return decorate();
    void this.read([...new Set(editors.map(({ document }) => document.uri.fsPath))]).then(
      decorate,
      () => (this.known = []),
    );
  }

  /** Queries the trace about files, where it changed since or they are others. */
  private async read(paths: readonly string[]): Promise<void> {
    const { shown } = this.traces;
    const facts = shown?.facts ?? null;
    const shownMoment = shown?.shownMoment ?? SHOWS_NOW;
    const known = [shown, facts?.info.revision, paths.join('\n'), facts?.findings, JSON.stringify(shownMoment)];
    if (known.every((one, i) => one === this.known[i])) return;
    this.known = known;
    const found =
      shown === null || facts === null || paths.length === 0
        ? null
        : await shown.request('lines', { paths, folders: shown.folders, moment: shownMoment.moment });
    if (this.known !== known) return;
    // The trace may have gone on before it answered, which the news before its answer say.
    known[1] = shown?.facts?.info.revision;
    this.files = found?.files ?? new Map();
    this.most = found?.mostBytes ?? 0;
    this.moment = shownMoment;
    this.sinceMs = readSinceMs({ facts });
  }

  /** Lines that allocate, and those that only keep a leak. */
  private shownOn(path: string, leaks: ReadonlyMap<string, LineLeak>): LineFacts[] {
    const facts = this.files.get(path) ?? [];
    const keepers = [...leaks].flatMap(([name, leak]) =>
      leak.shownIn !== path || facts.some(one => one.name === name) ? [] : { ...ALLOCATES_NOTHING, ...leak, name },
    );
    return [...facts, ...keepers];
  }

  /** By `file:line`: what a line has of a leak, or of what may be one, the worst if there are several. Of one that is fixed, the lines that allocated. */
  private leaks(): Map<string, LineLeak> {
    const { shown } = this.traces;
    const origin = originOf(shown ?? NOTHING_SHOWN);
    const lines = new Map<string, LineLeak>();
    const found = shown?.facts?.findings?.filter(one => isLeak(one) || isGrowth(one)) ?? [];
    for (const finding of found.reverse()) {
      const fixed = isFixed(finding, origin, this.lines);
      const own = shownPlace(finding, origin, this.lines);
      const path = lineNow(own, origin, this.lines)?.path ?? null;
      const shownIn = fixed || !isLeak(finding) ? null : path;
      const rates = new Map(
        finding.places.map(({ file, line, bytesPerStep }) => [`${file}:${line}`, { line, bytesPerStep }]),
      );
      const ownName = `${own?.file}:${own?.line}`;
      // Its own line has the figure of the whole leak, also after the fix.
      if (own?.line && (shownIn !== null || (fixed && rates.has(ownName))))
        rates.set(ownName, { line: own.line, bytesPerStep: finding.bytesPerStep });
      for (const [name, rate] of rates) {
        const at = name === ownName ? shownIn : null;
        if (at !== null || !lines.get(name)?.shownIn) lines.set(name, { finding, fixed, ...rate, shownIn: at });
      }
    }
    return lines;
  }

  private hueOf({ name }: LineFacts): LineHue {
    return lineHue(name, this.traces.shown?.facts?.hues ?? new Map());
  }

  private decorate(editor: vscode.TextEditor): void {
    const path = editor.document.uri.fsPath;
    const plain: vscode.DecorationOptions[] = [];
    const grown: vscode.DecorationOptions[] = [];
    const bars = new Map<vscode.TextEditorDecorationType, vscode.Range[]>(this.bars.made.map(type => [type, []]));
    const leaks = this.on ? this.leaks() : new Map<string, LineLeak>();
    for (const one of this.on ? this.shownOn(path, leaks) : []) {
      const line = this.lines.now(path, one.line, this.sinceMs);
      if (line === null || line > editor.document.lineCount) continue;
      const { range } = editor.document.lineAt(line - 1);
      const end = new vscode.Range(range.end, range.end);
      const leak = leaks.get(one.name);
      const contentText = lineText(one, leak ?? null, this.moment);
      const leaking = leak !== undefined && !leak.fixed && isLeak(leak.finding);
      (leaking ? grown : plain).push({ range: end, renderOptions: { after: { contentText } } });
      if (one.liveBytes <= 0) continue;
      const type = this.bars.of(this.hueOf(one), heatOf(one.liveBytes, this.most, LEVELS));
      bars.set(type, [...(bars.get(type) ?? []), range]);
    }
    this.show(editor, this.text, plain);
    this.show(editor, this.growing, grown);
    for (const [type, ranges] of bars) this.show(editor, type, ranges);
  }

  /** Only changes go to the window: a call costs more than the comparison. */
  private show(
    editor: vscode.TextEditor,
    type: vscode.TextEditorDecorationType,
    options: vscode.DecorationOptions[] | vscode.Range[],
  ): void {
    const drawn = remembered(this.drawn, editor, () => new Map<vscode.TextEditorDecorationType, string>());
    // An edit moves what is drawn: the same places are other ones then.
    const key = options.length === 0 ? '' : `${editor.document.version} ${JSON.stringify(options)}`;
    if (key === (drawn.get(type) ?? '')) return;
    drawn.set(type, key);
    editor.setDecorations(type, options);
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of [...this.subscriptions, this.text, this.growing, this.bars]) one.dispose();
  }
}

/** Bars in the gutter: one kind of decoration for each colour and height, made when it is needed. */
class GutterBars implements vscode.Disposable {
  private readonly types = new Map<number, vscode.TextEditorDecorationType>();

  constructor(private readonly levels: number) {}

  get made(): vscode.TextEditorDecorationType[] {
    return [...this.types.values()];
  }

  /** `level` from 0 to `levels` - 1. */
  of(hue: LineHue, level: number): vscode.TextEditorDecorationType {
    const { light, dark } = hueColours(hue);
    const icon = (colour: string): { gutterIconPath: vscode.Uri; gutterIconSize: string } => ({
      gutterIconPath: vscode.Uri.parse(heatSvg(level, this.levels, colour)),
      gutterIconSize: 'contain',
    });
    return remembered(this.types, (hue.hue * SHADE_COUNT + hue.shade) * this.levels + level, () =>
      vscode.window.createTextEditorDecorationType({ light: icon(light), dark: icon(dark) }),
    );
  }

  dispose(): void {
    for (const type of this.types.values()) type.dispose();
  }
}
