// The texts of the page when there is no table to show, or beside it: empty, starting, ended, failed.
import { t } from '@vscode/l10n';
import type { RecentEntry, SessionView } from '../../../extension/protocol/requests/messages';
import { wasPaused } from '../../../extension/protocol/trace';
import type { Button } from '../../../extension/protocol/requests/sessionRequests';
import { fileLine, formatBytes, formatCount, formatDuration } from '../../../extension/text/format';
import { primaryButton, progressRing } from '../../components';
import { button, differs, el, icon, setAttribute, setHidden, setText, setTextOrHide } from '../../dom';
import { lastStepText } from '../common/counts';
import { lineLink, type OpenLine } from '../common/lineLink';
import { headline } from '../ledger/ledgerText';

const ABOUT = t(
  'Run the Python file in the editor and watch its GPU memory live: how much each line holds, which lines grow, and since when.',
);
const SAVED = t('To open a saved trace (*.gputrace), double-click it in the Explorer.');
const UNTRUSTED = t(
  'This workspace is not trusted, so its code is not run. Trust it to trace its scripts. You can open saved traces without trust.',
);

const STANDS_STILL = t('The program is paused in the debugger. Its live memory is shown.');

/** What can be offered: its name on the page, and its words. */
const OFFERS: Partial<Record<Button, readonly [string, string]>> = {
  traceAgain: ['trace-again', t('Trace again')],
  changeArguments: ['change-arguments', t('Trace with other arguments…')],
  startChosen: ['trace-own', t('Trace your own script')],
  trySample: ['try-sample', t('Try the sample')],
  chooseInterpreter: ['choose-interpreter', t('Choose a Python interpreter…')],
  openReport: ['open-report', t('Open the report')],
  openTrace: ['open-trace', t('Open a trace…')],
  doctor: ['doctor', t('Check setup')],
};
/** Of these, in a trusted workspace alone. */
const STARTS = /^(traceAgain|changeArguments|startChosen)$/;
/** A button where it is offered first; the others are links. */
const PRIMARY = /^(traceAgain|changeArguments|startChosen|chooseInterpreter|openReport)$/;
/** Of these, what need not be done after a run that went well. */
const OPTIONAL = /^(traceAgain|startChosen)$/;

export class StateView {
  readonly element = el('section', { class: 'state', role: 'status' });
  private readonly start = primaryButton('start', t('Trace GPU memory'), () => this.run('start'));
  private readonly trust = primaryButton('manage-trust', t('Manage trust'), () => this.run('manageTrust'));
  private readonly offers = el('div', { class: 'offers' });
  private readonly recentList = el('ul', {});
  private readonly recent = el('section', { class: 'recent' }, el('h2', {}, t('Recent traces')), this.recentList);
  private readonly ring = progressRing();
  private readonly about = el('p', {}, ABOUT);
  private readonly saved = el('p', { class: 'dim' }, SAVED);
  private readonly untrusted = el('p', { class: 'notice warning', 'data-notice': 'untrusted' });
  private readonly detail = el('p', { 'data-value': 'detail' });
  /** In a narrow page, where the row of the name has no room for it. */
  private readonly step = el('span', { class: 'dim number', 'data-value': 'running-step', 'aria-hidden': 'true' });
  private readonly ran = el('p', { class: 'dim', 'data-value': 'ran' });
  private readonly card = el('div', { class: 'detail' }, this.detail, this.step, this.ran);
  private readonly words = el('div', { class: 'words' }, this.ring, this.card);
  private readonly totals = el('p', { class: 'dim number', 'data-value': 'totals' });

  constructor(
    private readonly run: (what: Button) => void,
    private readonly openRecent: (file: string) => void,
    private readonly openLine: OpenLine,
  ) {
    this.untrusted.append(icon('shield'), UNTRUSTED);
    const { untrusted, trust, about, start, saved, recent, words, totals, offers } = this;
    this.element.append(untrusted, trust, about, start, words, totals, offers, saved, recent);
  }

  /** @param links what is no button though it is offered first; null: nothing */
  private offer(offered: readonly Button[], links: RegExp | null): void {
    setHidden(this.offers, offered.length === 0);
    if (!differs(this.offers, offered, String(links))) return;
    const make = (what: Button, index: number): HTMLElement => {
      const [action, words] = OFFERS[what] ?? [what, what];
      const run = (): void => this.run(what);
      const primary = index === 0 && PRIMARY.test(what) && links?.test(what) !== true;
      return primary ? primaryButton(action, words, run) : button('link', action, words, run);
    };
    this.offers.replaceChildren(...offered.map(make));
  }

  update(session: SessionView): void {
    const { phase, trusted, info } = session;
    const empty = phase === 'empty';
    setHidden(this.untrusted, trusted || phase === 'running');
    setHidden(this.trust, trusted || !empty);
    for (const element of [this.about, this.saved]) setHidden(element, !empty);
    setHidden(this.start, !empty || !trusted);
    this.showRecent(empty ? (session.recent ?? []) : []);
    const stopping = session.stopped === true && phase === 'running';
    setHidden(this.ring, phase !== 'starting' && !stopping);
    const unused = phase === 'ended' && info?.totals.length === 0;
    const offered = new Set<Button>(empty ? ['trySample', 'openTrace'] : session.offers);
    if ((unused && !session.ran) || session.onCpu === true) offered.add('doctor');
    // The card of what is fixed has the button to check it.
    const fixed = (session.fixed ?? []).length > 0 && (session.newer ?? null) === null;
    if (fixed) offered.delete('traceAgain');
    // Of a saved trace, `detail` is no reason.
    const failed = phase === 'failed' || (session.crashed === true && session.ran !== undefined);
    this.offer(
      [...offered].filter(what => trusted || !STARTS.test(what)),
      fixed ? /^/ : phase === 'ended' && !failed ? OPTIONAL : null,
    );
    const allocates = phase === 'running' && info !== null && info.totals.length > 0;
    const detail = !allocates || stopping ? session.detail : session.halted === true ? STANDS_STILL : t('Running');
    setText(this.step, allocates ? lastStepText(info) : '');
    this.showDetail(detail, session);
    setTextOrHide(this.ran, ranText(session));
    setAttribute(this.card, 'title', session.ran ?? '');
    setHidden(this.words, detail === '' && phase !== 'starting');
    setAttribute(this.card, 'class', failed ? 'detail notice error' : 'detail');
    this.words.toggleAttribute('data-failed', failed);
    this.element.toggleAttribute('data-failed', failed);
    const totals = phase === 'ended' && !unused ? endTexts(session) : [];
    setHidden(this.totals, totals.length === 0);
    if (differs(this.totals, totals))
      this.totals.replaceChildren(...totals.map((text, i) => el('span', {}, i > 0 ? `\u00b7 ${text}` : text)));
    setHidden(
      this.element,
      [...this.element.children].every(child => (child as HTMLElement).hidden),
    );
  }

  /** The line that it ends with is a link. */
  private showDetail(detail: string, { raisedAt: at }: SessionView): void {
    setTextOrHide(this.detail, detail); // leaves the link alone where the text is the same
    const end = at ? `(${fileLine(at.file, at.line)})` : '';
    if (!at || !detail.endsWith(end) || (!differs(this.detail, at) && this.detail.childElementCount > 0)) return;
    const place = el('span', { class: 'whole' }, '(', lineLink(at, this.openLine), ')');
    this.detail.replaceChildren(detail.slice(0, -end.length), place);
  }

  private showRecent(recent: readonly RecentEntry[]): void {
    setHidden(this.recent, recent.length === 0);
    if (!differs(this.recent, recent)) return;
    const items = recent.map(({ file, title, words }) => {
      const name = button('link', 'open-recent', title, () => this.openRecent(file), { title: file });
      return el('li', {}, name, ' ', el('span', { class: 'dim number' }, words));
    });
    this.recentList.replaceChildren(...items);
  }
}

/** Which Python ran it, where that may be why it failed; else it is in the tooltip. */
const ranText = ({ ran = '', offers }: SessionView): string =>
  offers?.includes('chooseInterpreter') === true ? ran : '';

/** The exit status unless the host's sentence names it, and totals: `Exit status 0`, `ran for 12.40 s`, `peak 8.10 GiB`, `12,345 allocations, 12,001 frees`. */
function endTexts(session: SessionView): string[] {
  const { info, exitCode, detail } = session;
  if (!info) return [];
  const { peakBytes, allocations, frees } = headline(info);
  const parts = [
    exitCode === null || /\bstatus\b/.test(`${detail} ${ranText(session)}`) ? '' : t('Exit status {0}', exitCode),
    t('ran for {0}', formatDuration(info.durationNs)),
    peakBytes === null ? '' : t('peak {0}', formatBytes(peakBytes)),
    wasPaused(info) ? t('recording was paused') : '',
    t('{0} allocations, {1} frees', formatCount(allocations), formatCount(frees)),
  ];
  return parts.filter(part => part !== '');
}
