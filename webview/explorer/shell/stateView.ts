// The texts of the page when there is no table to show, or beside it: empty, starting, ended, failed.
import { t } from '@vscode/l10n';
import type { RecentEntry, SessionView } from '../../../extension/protocol/requests/messages';
import { formatBytes, formatCount, formatDuration } from '../../../extension/text/format';
import { primaryButton, progressRing } from '../../components';
import { button, differs, el, icon, setTextOrHide } from '../../dom';
import { headline } from '../ledger/ledgerText';

const ABOUT = t(
  'Runs the Python file in the editor and shows every GPU allocation while it happens: how much each line holds, what grows, and when.',
);
const SAVED = t('A saved trace (*.gputrace) opens by a double click in the Explorer.');
const UNTRUSTED = t(
  'This workspace is not trusted, so nothing in it is run. Trust it to trace its scripts; saved traces can be opened without that.',
);

const STANDS_STILL = t('The debugger holds the program: this is what is alive now.');

type StateAction = 'start' | 'startChosen' | 'trySample' | 'chooseInterpreter' | 'doctor' | 'openTrace';

export class StateView {
  readonly element = el('section', { class: 'state', role: 'status' });
  private readonly start = primaryButton('start', t('Trace GPU memory'), () => this.run('start'));
  private readonly again = primaryButton('start-again', t('Trace again'), () => this.run('start'));
  private readonly own = primaryButton('trace-own', t('Trace your own script'), () => this.run('startChosen'));
  private readonly sample = this.link('try-sample', t('Try the sample'), 'trySample');
  private readonly choose = this.link('choose-interpreter', t('Choose a Python interpreter…'), 'chooseInterpreter');
  private readonly check = this.link('doctor', t('Check this machine'), 'doctor');
  private readonly open = this.link('open-trace', t('Open a trace…'), 'openTrace');
  private readonly recentList = el('ul', {});
  private readonly recent = el('section', { class: 'recent' }, el('h2', {}, t('Recent traces')), this.recentList);
  private readonly ring = progressRing();
  private readonly about = el('p', {}, ABOUT);
  private readonly saved = el('p', { class: 'dim' }, SAVED);
  private readonly untrusted = el('p', { class: 'notice warning', 'data-notice': 'untrusted' });
  private readonly detail = el('p', { class: 'detail', 'data-value': 'detail' });
  private readonly words = el('div', { class: 'words' }, this.ring, this.detail);
  private readonly totals = el('p', { class: 'dim number', 'data-value': 'totals' });

  constructor(
    private readonly run: (what: StateAction) => void,
    private readonly openRecent: (file: string) => void,
  ) {
    this.untrusted.append(icon('shield'), UNTRUSTED);
    const { start, sample, open, saved, recent, words, choose, check, totals, again, own } = this;
    this.element.append(this.untrusted, this.about, start, sample, open, saved, recent);
    this.element.append(words, choose, check, totals, again, own);
  }

  private link(action: string, label: string, what: StateAction): HTMLElement {
    return button('link', action, label, () => this.run(what));
  }

  update(session: SessionView): void {
    const { phase, trusted, info, id } = session;
    const empty = phase === 'empty';
    this.untrusted.hidden = trusted || phase === 'running';
    this.about.hidden = this.saved.hidden = !empty;
    this.start.hidden = !empty || !trusted;
    this.sample.hidden = this.open.hidden = !empty;
    this.showRecent(empty ? (session.recent ?? []) : []);
    this.own.hidden = session.sample !== true || !trusted;
    this.ring.hidden = phase !== 'starting';
    // A file that cannot be read has no number, and nothing to start again.
    this.again.hidden = phase !== 'failed' || !trusted || id === 0;
    this.choose.hidden = phase !== 'failed' || session.noInterpreter !== true;
    const unused = phase === 'ended' && info?.totals.length === 0;
    this.check.hidden = !unused && session.onCpu !== true;
    const allocates = phase === 'running' && info !== null && info.totals.length > 0;
    const detail = !allocates ? session.detail : session.halted === true ? STANDS_STILL : '';
    setTextOrHide(this.detail, detail);
    this.words.hidden = detail === '' && phase !== 'starting';
    this.detail.className = phase === 'failed' || session.crashed === true ? 'detail notice error' : 'detail';
    setTextOrHide(this.totals, phase === 'ended' && !unused ? endText(session) : '');
    this.element.hidden = [...this.element.children].every(child => (child as HTMLElement).hidden);
  }

  private showRecent(recent: readonly RecentEntry[]): void {
    this.recent.hidden = recent.length === 0;
    if (!differs(this.recent, recent)) return;
    const items = recent.map(({ file, title, words }) => {
      const name = button('link', 'open-recent', title, () => this.openRecent(file), { title: file });
      return el('li', {}, name, ' ', el('span', { class: 'dim number' }, words));
    });
    this.recentList.replaceChildren(...items);
  }
}

/** The exit status unless the host's sentence names it, and totals: `Exit status 0 · 12.40 s · peak 8.10 GB · 12,345 allocations, 12,001 frees`. */
export function endText({ info, exitCode, detail }: SessionView): string {
  if (!info) return '';
  const { peakBytes, allocations, frees } = headline(info);
  const parts = [
    exitCode === null || /\bstatus\b/.test(detail) ? '' : t('Exit status {0}', exitCode),
    formatDuration(info.durationNs),
    peakBytes === null ? '' : t('peak {0}', formatBytes(peakBytes)),
    t('{0} allocations, {1} frees', formatCount(allocations), formatCount(frees)),
  ];
  return parts.filter(part => part !== '').join(' · ');
}
