// The top of the page: what is traced, how it goes, how much is alive, and the buttons.
import { t } from '@vscode/l10n';
import type { SessionView } from '../../../extension/protocol/requests/messages';
import type { Button } from '../../../extension/protocol/requests/sessionRequests';
import { wasPaused } from '../../../extension/protocol/trace';
import { formatBytes, formatDuration } from '../../../extension/text/format';
import { badge, iconButton } from '../../components';
import { el, setAttributes, setHidden, setText } from '../../dom';
import { openMenu, type MenuItem } from '../../menu';
import { setName } from '../common/named';
import { lastStepText, stepText } from '../common/counts';
import { headline } from '../ledger/ledgerText';
import type { PageActions } from '../state/part';

const PHASE_WORDS: Record<SessionView['phase'], string> = {
  empty: t('Nothing traced yet'),
  starting: t('Starting'),
  running: t('Running'),
  ended: t('Ended'),
  failed: t('Failed'),
};

/** What the figures are of while an earlier moment is shown; `bytes`, `step`: null where it is not known. */
export interface ShownMoment {
  timeNs: number;
  bytes: number | null;
  step: number | null;
}

export class Header {
  readonly element: HTMLElement;
  private session: SessionView | null = null;
  private moment: ShownMoment | null = null;
  /** The session whose program ran when the buttons were placed. */
  private placedFor = 0;
  private readonly dot = el('span', { class: 'dot', role: 'img' });
  private readonly title = el('h1', { class: 'title', 'data-value': 'title' });
  private readonly paused = el('span', { 'data-value': 'paused' }, t('paused'));
  private readonly elapsed = el('span', { class: 'dim number', 'data-value': 'elapsed' });
  private readonly step = el('span', { class: 'dim number', 'data-value': 'step' });
  private readonly live = el('strong', { class: 'number', 'data-value': 'live' });
  private readonly total = el('span', { class: 'dim number', 'data-value': 'device-total' });
  private readonly figures = el('span', { title: t('Live memory, out of total memory') });
  private readonly simulated = badge('simulated');
  private readonly stop = iconButton('stop', 'debug-stop', t('Stop the traced program'), this.requestOf('stop'));
  private readonly pause = iconButton('recording', 'debug-pause', '', () => {
    void this.page.request('setRecording', { on: !(this.session?.recording ?? true) });
  });
  private readonly save = iconButton('save', 'save', t('Save the trace as a file'), this.requestOf('save'));
  private readonly webPage = iconButton('save-page', 'globe', t('Save as a web page'), this.requestOf('savePage'));
  private readonly mark = iconButton('mark', 'bookmark', t('Add a marker'), this.requestOf('mark'));
  /** Has those three where the row is too narrow for them and for the name of the trace. */
  private readonly more = iconButton('more', 'ellipsis', t('More actions'), () => this.openMore());
  private readonly wide = iconButton('open-wide', 'screen-full', t('Open in an editor'), this.requestOf('openWide'));
  private readonly close = iconButton('close-session', 'close', t('Close this trace'), () => {
    void this.page.request('closeSession', { id: this.session?.id ?? 0 });
  });

  constructor(private readonly page: PageActions) {
    const all = [this.pause, this.mark, this.save, this.webPage, this.more, this.wide, this.stop, this.close].map(
      ({ element }) => element,
    );
    const buttons = el('div', { class: 'buttons', role: 'toolbar', 'aria-label': t('Trace') }, ...all);
    buttons.addEventListener('pointerleave', () => this.session && this.updateButtons(this.session, false));
    const name = el('div', { class: 'name' }, this.dot, this.title, this.paused, this.step, this.elapsed);
    this.figures.append(this.live, this.total);
    const bytes = el('div', { class: 'headline' }, this.figures, this.simulated.element);
    this.element = el('header', { class: 'header' }, name, bytes, buttons);
  }

  /** @param moment null: it is now */
  update(session: SessionView, elapsedNs: number, moment: ShownMoment | null): void {
    const { phase, info } = session;
    this.session = session;
    this.moment = moment;
    const paused = phase === 'running' && !session.recording;
    const crashed = session.crashed === true;
    const stopped = session.stopped === true ? (phase === 'ended' ? t('Stopped') : t('Stopping…')) : null;
    const word = stopped ?? (paused ? t('Recording is paused') : crashed ? t('Failed') : PHASE_WORDS[phase]);
    setAttributes(this.dot, {
      'data-phase': paused ? 'paused' : crashed ? 'crashed' : phase,
      'aria-label': word,
      title: word,
    });
    const showsPause = paused && session.sessions.length < 2; // the selector of sessions says it too
    setHidden(this.paused, !showsPause);
    setName(this.title, session.title || t('GPU memory'));
    setAttributes(this.title, { title: session.title, 'data-paused': showsPause });
    this.simulated.set(
      session.simulated ? t('simulated GPU') : '',
      t('Not a real GPU; a simulator answers the driver calls'),
    );
    this.updateButtons(session);
    this.tick(info ? elapsedNs : 0);
    setHidden(this.figures, nothingIn(session));
    setText(this.step, info ? (moment ? stepText(moment.step) : lastStepText(info)) : '');
    this.step.title = info && wasPaused(info) ? t('Steps during the pause are not counted') : '';
    if (!info) return;
    const { liveBytes, totalBytes } = headline(info);
    setText(this.live, formatBytes(moment?.bytes ?? liveBytes));
    setText(this.total, totalBytes > 0 ? ` / ${formatBytes(totalBytes)}` : '');
  }

  /** Only the clock, which stands at an earlier moment. */
  tick(runNs: number): void {
    const elapsedNs = runNs > 0 ? (this.moment?.timeNs ?? runNs) : 0;
    const running = this.moment === null && this.session?.phase !== 'ended';
    const clock = elapsedNs > 0 ? clockText(elapsedNs, running) : '';
    setText(this.elapsed, this.moment !== null && clock !== '' ? t('at {0}', clock) : clock);
    this.elapsed.title = this.moment === null ? t('Duration of the run') : t('Time of the shown moment');
  }

  private requestOf(method: Button): () => void {
    return () => void this.page.request(method, undefined);
  }

  private openMore(): void {
    const items = [this.mark, this.save, this.webPage].map(({ element }): MenuItem | null => {
      const id = element.getAttribute('data-action') ?? '';
      const label = element.getAttribute('aria-label') ?? '';
      return element.hidden !== false ? null : { id, label, run: () => element.click() };
    });
    const { left, bottom } = this.more.element.getBoundingClientRect();
    openMenu(
      t('More actions'),
      items.filter(item => item !== null),
      { x: left, y: bottom },
    );
  }

  private updateButtons(session: SessionView, isPointed = this.stop.element.matches('.buttons:hover > *')): void {
    const { id, phase, recording, attached, canWiden } = session;
    const nothing = nothingIn(session);
    const runs = phase === 'running' || phase === 'starting';
    const stops = session.stopped === true || !runs;
    for (const { element } of [this.stop, this.pause, this.mark]) element.toggleAttribute('disabled', stops);
    if (session.stopped === true) this.stop.set('debug-stop', t('Stopping…'));
    else if (attached) this.stop.set('debug-disconnect', t('Detach; the program keeps running'));
    else this.stop.set('debug-stop', t('Stop the traced program'));
    // After Stop, no other button comes under the pointer.
    if (!runs && isPointed && this.placedFor === id) return;
    this.placedFor = runs ? id : 0;
    setHidden(this.stop.element, !runs);
    setHidden(this.pause.element, phase !== 'running');
    this.pause.set(recording ? 'debug-pause' : 'record', recording ? t('Pause recording') : t('Resume recording'));
    for (const { element } of [this.save, this.webPage]) setHidden(element, nothing || phase === 'empty');
    setHidden(this.mark.element, phase !== 'running');
    setHidden(
      this.more.element,
      [this.save, this.mark].every(({ element }) => element.hidden !== false),
    );
    setHidden(this.wide.element, !canWiden || nothing);
    setHidden(this.close.element, id === 0 || runs);
  }
}

/** There is no trace, or it holds no memory and none will come. */
export function nothingIn({ info, phase }: SessionView): boolean {
  return info === null || (phase !== 'running' && info.totals.length === 0);
}

/** `12 s` without decimals once a second counts, so that the clock does not flicker; `running`: it counts. */
function clockText(elapsedNs: number, running: boolean): string {
  if (elapsedNs < 1e9 || !running) return formatDuration(elapsedNs);
  return elapsedNs < 60e9 ? `${Math.floor(elapsedNs / 1e9)} s` : formatDuration(Math.floor(elapsedNs / 1e9) * 1e9);
}
