// One finding as a card: a row with its sentence; opened also figures, spark line, places, advice, buttons, evidence and answers.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../extension/text/format';
import { otherHolders, shareText } from '../../../extension/text/holderShare';
import { withForecast } from '../../../extension/text/roomText';
import type { FindingView, OtherLine } from '../../../extension/protocol/requests/verdictRequests';
import { isLeak, type HolderPart } from '../../../extension/protocol/verdicts';
import { primaryButton } from '../../components';
import { button, differs, el, icon, setAttribute, setAttributes, setHidden, setText, svg } from '../../dom';
import type { PageActions } from '../state/part';
import { holdersSection } from './holdersSection';
import { figures, lineText, moreFigures } from './text';
import { lineLink } from '../common/lineLink';
import { codeElement, setWrapped, withCode, wrapped } from '../common/named';
import { WORDS } from '../common/vocabularyWords';
import { sparkPoints } from '../common/rows';

/** Requests to the traced process about a finding. */
export type InquiryMethod = 'findHolders' | 'applyFix' | 'stopHolderSearch';
const SPARK = { width: 64, height: 18 };
/** Room below its head for an answer that is read there. */
const ANSWER_PX = 120;
/** Letters; longer ones are folded. */
const LONG_ADVICE = 240;

export class FindingCard {
  readonly element = el('article', { class: 'finding' });
  /** Stays in sight while an answer below it is read. */
  private readonly head = el('div', { class: 'finding-head' });
  private readonly word = el('span', { class: 'finding-word' });
  private readonly sentence = el('span', {});
  private readonly chevron = icon('chevron-right');
  private readonly toggle = button('finding-toggle', null, '', () => this.setOpen(!this.isOpen));
  private readonly cause = el('p', { 'data-value': 'cause' });
  private readonly facts = el('p', { class: 'dim number dotted', 'data-value': 'figures' });
  private readonly moreFacts = el('p', { class: 'dim number dotted finding-facts' });
  /** What to do first: the fix, and the line to change. */
  private readonly first = el('div', { class: 'finding-actions' });
  private readonly held = el('div', { 'data-part': 'holder' });
  private readonly places = el('div', { class: 'finding-actions', 'data-part': 'places' });
  private readonly line = svg('polyline', { points: '' });
  private readonly body = el('div', { class: 'finding-body' });
  private readonly buttons = new Map<string, HTMLElement>();
  private readonly advice = el('p', { class: 'advice' });
  private readonly adviceFold = button('link', 'advice-fold', '', () => {
    this.adviceOpen = !this.adviceOpen;
    this.showAdvice();
  });
  private adviceOpen = false;
  private readonly fixed = el('div', { class: 'finding-fixed', role: 'status' });
  private readonly fixedText = el('span', {});
  private readonly again = primaryButton(
    'trace-again',
    t('Trace again'),
    () => void this.page.request('traceAgain', undefined),
  );
  private readonly toNewer = button('link', 'newer-run', t('Show the newer run'), () => {
    if (this.newer !== null) void this.page.request('showSession', { id: this.newer });
  });
  private newer: number | null = null;
  private readonly answers = el('div', { class: 'answers', 'aria-live': 'polite' });
  private readonly reasons = el('div', { 'data-part': 'reasons' });
  private finding: FindingView;
  private others: OtherLine[] | null = null;
  isOpen = false;
  private reasonsOpen = false;
  /** Its holders were requested here: the answer is brought into sight. */
  private awaited = false;

  constructor(
    finding: FindingView,
    private readonly page: Pick<PageActions, 'request' | 'openLine'>,
    private readonly inquire: (method: InquiryMethod, finding: string) => void,
  ) {
    this.finding = finding;
    const id = `finding-${finding.id.replace(/[^\w-]/g, '-')}`;
    setAttribute(this.element, 'aria-labelledby', id);
    this.toggle.id = id;
    this.body.id = `${id}-body`;
    this.toggle.setAttribute('aria-controls', this.body.id);
    this.toggle.append(this.chevron, this.sentence);
    const viewBox = `0 0 ${SPARK.width} ${SPARK.height}`;
    const label = t('Live memory per step');
    const shape = { viewBox, preserveAspectRatio: 'none', class: 'spark', role: 'img', 'aria-label': label };
    const image = svg('svg', { ...SPARK, ...shape });
    image.append(this.line);
    const pace = el('div', { class: 'finding-pace' }, el('div', {}, this.word, this.facts), el('span', {}, image));
    this.body.append(this.advice, this.makeButtons(), this.places, this.moreFacts, this.answers, this.reasons);
    this.fixed.append(el('span', { 'data-value': 'fixed' }, icon('check'), this.fixedText), this.again, this.toNewer);
    this.head.append(el('h2', {}, this.toggle), this.fixed, pace, this.first);
    // A low panel shows what stands above the body, and no more.
    this.element.append(this.head, this.cause, this.held, this.body);
    this.setOpen(false);
  }

  /** Height in pixels of what is read first of it; 0 while it is closed. */
  get headPx(): number {
    if (!this.isOpen) return 0;
    const answers = this.element.getAttribute('data-answered') === 'true' ? ANSWER_PX : 0;
    return this.body.offsetTop - this.element.offsetTop + answers;
  }

  setOpen(open: boolean): void {
    this.isOpen = open;
    for (const part of [this.first, this.held, this.body]) setHidden(part, !open);
    setAttribute(this.element, 'data-open', String(open));
    setAttribute(this.toggle, 'aria-expanded', String(open));
    setAttribute(this.chevron, 'class', `codicon codicon-chevron-${open ? 'down' : 'right'}`);
  }

  /** Opens it, and puts the focus on its sentence. */
  reveal(): void {
    this.setOpen(true);
    this.element.scrollIntoView({ block: 'nearest' });
    this.toggle.focus();
  }

  /** Draws what is new; what did not change keeps its elements, and so the focus. `fixed`: its fix is in the source by now, `first`: ahead of all others; `newer`: the newest run, where this is an older one. */
  update(finding: FindingView, fixed: boolean, first: boolean, newer: number | null): void {
    this.finding = finding;
    setHidden(this.fixed, !fixed);
    this.newer = newer;
    setHidden(this.again, newer !== null || !first);
    setHidden(this.toNewer, newer === null || !first);
    const traced = t('Fixed in the editor. A newer run shows whether it still grows.');
    setText(this.fixedText, newer === null ? t('Fixed in the editor.') : traced);
    setAttribute(this.element, 'data-fixed', String(fixed));
    const { id, verdict, cause, headline, detail, spark } = finding;
    const severe = isLeak(finding) || finding.failure?.wentOn === false;
    const { name, sentence, tone } = WORDS.findings[verdict];
    setAttributes(this.element, { 'data-finding': id, 'data-verdict': verdict, 'data-severe': String(severe) });
    setAttribute(this.element, 'data-tone', tone);
    setText(this.word, name);
    setAttribute(this.word, 'title', sentence);
    setWrapped(this.sentence, headline);
    // Figures stand below; why an allocation failed is none.
    setWrapped(this.cause, cause === null ? '' : (detail ?? ''));
    setHidden(this.cause, cause === null || detail === null);
    setAttribute(this.toggle, 'title', finding.title);
    showFacts(this.facts, figures(finding));
    showFacts(this.moreFacts, moreFigures(finding));
    setAttribute(this.line, 'points', sparkPoints(Float64Array.from(spark), SPARK.width, SPARK.height));
    this.showAdvice();
    const fix = this.buttons.get('apply-fix');
    if (fix) {
      setHidden(fix, finding.holder?.fix === undefined);
      setText(fix, t('Add {0}', finding.holder?.fix?.adds ?? ''));
      setAttribute(fix, 'title', finding.holder?.fix?.statement ?? '');
    }
    const why = this.buttons.get('why');
    if (why) setText(why, isLeak(finding) ? t('Why is this a leak?') : t('Why this finding?'));
    this.showPlaces();
    this.showHolder();
    this.showSearch();
    this.updateAnswers();
    if (this.reasonsOpen) this.showReasons();
  }

  /** Of a long one, what to do; the rest where it is requested. */
  private showAdvice(): void {
    const { suggestion: text, failure } = this.finding;
    const [advice] = failure?.advice ?? [];
    const suggestion = advice === undefined ? text : withForecast({ ...advice, text }, 'page', t);
    const [first = ''] = suggestion.split(/(?<=\.) (?=\P{Ll})/u);
    const folds = suggestion.length > LONG_ADVICE && first.length < suggestion.length;
    if (!differs(this.advice, suggestion, this.adviceOpen)) return;
    setText(this.adviceFold, this.adviceOpen ? t('Less') : t('More'));
    setAttribute(this.adviceFold, 'aria-expanded', String(this.adviceOpen));
    const words = withCode(folds && !this.adviceOpen ? first : suggestion);
    const focused = document.activeElement === this.adviceFold;
    this.advice.replaceChildren(...words, ...(folds ? [' ', this.adviceFold] : []));
    if (focused) this.adviceFold.focus();
  }

  /** A search can find what is not named yet; of a program that has ended, nothing. */
  private showSearch(): void {
    const { queryable, holder, unnamed } = this.finding;
    const search = this.buttons.get('who-holds');
    const open = holder === null ? unnamed === null : holder.share !== undefined;
    search?.toggleAttribute('hidden', !queryable || !open);
    if (search) setText(search, holder === null ? t('Find what holds it') : t('Find other holders'));
  }

  /** Where to change something first; then where the memory comes from. */
  private showPlaces(): void {
    const { holder, place } = this.finding;
    const all = holder === null ? [] : otherHolders(holder);
    const isOwn = ({ file, line }: HolderPart): boolean => file === holder?.file && line === holder.line;
    const others = all.filter(part => part.file !== null && part.line !== null && !isOwn(part));
    if (!differs(this.places, holder?.file, holder?.line, place?.file, place?.line, others)) return;
    const keeper = lineText(holder);
    const source = place === null || place.line === 0 ? '' : lineText(place);
    const links: HTMLElement[] = [];
    if (holder !== null && holder.file !== null && holder.line !== null)
      links.push(this.link('open-holder', t('Open {0}', keeper), holder.file, holder.line));
    if (place !== null && source !== '' && !(place.file === holder?.file && place.line === holder.line)) {
      const label = links.length === 0 ? t('Open {0}', source) : t('Allocated at {0}', source);
      links.push(this.link('open-line', label, place.file, place.line));
    }
    for (const { path, file, line } of others) {
      const label = t('Also held at {0}', lineText({ file, line }));
      const link = this.link('open-other-holder', label, file ?? '', line ?? 0);
      link.title = path;
      links.push(link);
    }
    const fix = this.buttons.get('apply-fix');
    this.first.replaceChildren(...(fix ? [fix] : []), ...links.splice(0, 1));
    this.places.replaceChildren(...links);
  }

  private updateAnswers(): void {
    const { holders, holder, unnamed, id } = this.finding;
    if (!differs(this.answers, holders, holder, unnamed)) return;
    const actions = { openLine: this.page.openLine, cancel: () => this.inquire('stopHolderSearch', id) };
    const none = holder === null && unnamed !== null ? [el('p', {}, unnamed)] : [];
    this.answers.replaceChildren(...(holders === null ? none : [holdersSection(holders, actions)]));
    this.buttons.get('who-holds')?.toggleAttribute('disabled', holders?.state === 'asking');
    if (!this.awaited) return;
    this.bringIntoSight(this.answers);
    this.awaited = holders === null || holders.state === 'asking';
  }

  /** The holder that the trace has already. */
  private showHolder(): void {
    const { holder } = this.finding;
    if (!differs(this.held, holder)) return;
    const share = holder && shareText(holder, t);
    const path = holder === null ? [] : [`${t('Held by')} `, codeElement(holder.path, { class: 'holder-path' })];
    this.held.replaceChildren(el('p', {}, ...path), ...(share === null ? [] : [el('p', {}, ...wrapped(share))]));
  }

  private link(action: string, text: string, file: string, line: number): HTMLElement {
    return lineLink({ file, line }, this.page.openLine, { 'data-action': action }, text);
  }

  private makeButtons(): HTMLElement {
    const list = el('div', { class: 'finding-actions' });
    const add = (name: string, label: string, run: () => void, to = list): void => {
      const element = button('link', name, label, run);
      this.buttons.set(name, element);
      to.append(element);
    };
    add('apply-fix', '', () => this.inquire('applyFix', this.finding.id), this.first);
    add('who-holds', '', () => {
      this.awaited = true;
      this.inquire('findHolders', this.finding.id);
    });
    add('why', '', () => void this.toggleReasons());
    this.buttons.get('why')?.setAttribute('aria-expanded', 'false');
    return list;
  }

  private async toggleReasons(): Promise<void> {
    this.reasonsOpen = !this.reasonsOpen;
    this.buttons.get('why')?.setAttribute('aria-expanded', String(this.reasonsOpen));
    this.reasons.replaceChildren();
    differs(this.reasons);
    this.others = null;
    if (!this.reasonsOpen) return setAttribute(this.element, 'data-answered', 'false');
    this.showReasons();
    this.bringIntoSight(this.reasons);
    this.others = (await this.page.request('otherLines', { finding: this.finding.id })) ?? [];
    if (this.reasonsOpen) this.showReasons();
  }

  /** An answer, below the head. */
  private bringIntoSight(answer: HTMLElement): void {
    setAttribute(this.element, 'data-answered', 'true');
    answer.style.scrollMarginTop = `${this.head.offsetHeight}px`;
    answer.scrollIntoView({ block: 'nearest' });
  }

  private showReasons(): void {
    const { evidence, ruledOut } = this.finding;
    if (!differs(this.reasons, evidence, ruledOut, this.others)) return;
    const parts = [listOf(t('Evidence'), evidence), listOf(t('Ruled out'), ruledOut), this.otherList()];
    this.reasons.replaceChildren(...parts.filter(part => part !== null));
  }

  private otherList(): HTMLElement | null {
    if (this.others === null || this.others.length === 0) return null;
    const items = this.others.map(other => {
      const { file, line, because } = other;
      const name = lineText(other);
      const place = line > 0 ? this.link('open-other', name, file, line) : el('span', {}, name || t('no Python line'));
      const bytes = el('span', { class: 'dim number' }, ` ${formatBytes(other.liveBytes)} `);
      const { name: word, sentence } = WORDS.states[other.state];
      const state = el('span', { class: 'badge', 'data-state': other.state, title: sentence }, word);
      return el('li', {}, place, bytes, state, el('div', { class: 'dim' }, ...withCode(because)));
    });
    return el('section', {}, el('h3', {}, t('Other lines')), el('ul', { class: 'others' }, ...items));
  }
}

/** A fact begins a line before it is broken; its dot is clipped there. */
function showFacts(place: HTMLElement, facts: readonly string[]): void {
  if (place.textContent === facts.join(' · ')) return;
  const words = facts.map((fact, i) =>
    el('span', { class: 'whole' }, ...(i > 0 ? [el('i', {}, '· ')] : []), ...wrapped(fact)),
  );
  place.replaceChildren(el('span', {}, ...words.flatMap((word, i) => (i > 0 ? [' ', word] : [word]))));
}

function listOf(title: string, sentences: readonly string[]): HTMLElement | null {
  if (sentences.length === 0) return null;
  const items = sentences.map(sentence => el('li', {}, ...withCode(sentence)));
  return el('section', {}, el('h3', {}, title), el('ul', {}, ...items));
}
