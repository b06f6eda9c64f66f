// Small lines above the table: what was lost and why, notes of the processes, what failed.
import { t } from '@vscode/l10n';
import { isChosen, isSnapshot, isWarning } from '../../../extension/protocol/notes';
import { lossTexts } from '../../../extension/text/format';
import { withLocalTimes } from '../../../extension/text/when';
import type { Method } from '../../../extension/protocol/requests/messages';
import type { TraceInfo } from '../../../extension/protocol/trace';
import { differs, el, icon, setAttribute, setHidden, setText, setTextOrHide } from '../../dom';
import { eventsLostText, notesText } from '../common/counts';
import { withCode } from '../common/named';

export class Notices {
  readonly element = el('div', { class: 'notices' });
  private readonly warningTitle = el('span', {});
  private readonly warningList = el('ul', {});
  private readonly warning = el('details', { 'data-notice': 'losses' });
  private readonly warningIcon = icon('warning');
  private readonly error = el('p', { class: 'notice error', role: 'alert', 'data-notice': 'error' });
  private readonly closed = el('p', { class: 'notice', role: 'status', 'data-notice': 'closed' });
  private readonly errors = new Map<Method, string>();

  constructor() {
    this.warning.append(el('summary', {}, this.warningIcon, this.warningTitle), this.warningList);
    this.error.hidden = this.closed.hidden = this.warning.hidden = true;
    this.element.append(this.error, this.closed, this.warning);
  }

  /** A request failed; '' when one of its kind succeeded again. The latest sentence is shown. */
  setError(method: Method, sentence: string): void {
    this.errors.delete(method);
    if (sentence !== '') this.errors.set(method, sentence);
    this.showError();
  }

  clearErrors(): void {
    this.errors.clear();
    this.showError();
  }

  private showError(): void {
    setTextOrHide(this.error, [...this.errors.values()].pop() ?? '');
  }

  /** @param closed which trace was closed just now; '': none */
  update(info: TraceInfo | null, closed: string): void {
    setTextOrHide(this.closed, closed);
    setAttribute(this.closed, 'title', closed);
    const { title, lines, severe } = warnings(info, document.documentElement.lang);
    if (!differs(this.warning, title, lines, severe)) return;
    setAttribute(this.warning, 'class', severe ? 'notice warning' : 'notice');
    setAttribute(this.warningIcon, 'class', `codicon codicon-${severe ? 'warning' : 'info'}`);
    setHidden(this.warning, title === '');
    setText(this.warningTitle, title);
    this.warningList.replaceChildren(...lines.map(line => el('li', {}, ...withCode(line))));
  }
}

/** One line for losses and notes together, and the details behind it; an empty title = none. `severe`: not all of it was the user's choice. */
export function warnings(
  info: TraceInfo | null,
  language: string,
): { title: string; lines: string[]; severe: boolean } {
  if (!info) return { title: '', lines: [], severe: false };
  const lost = lossTexts(info.lost);
  const named = info.processes.length > 1;
  const notes = info.processes.flatMap(process =>
    process.notes.filter(isWarning).map(note => {
      const text = withLocalTimes(note.text, language);
      const whole = !named || isSnapshot(process);
      return { text: whole ? text : t('Process {0}: {1}', process.pid, text), chosen: isChosen(note) };
    }),
  );
  const parts: string[] = [];
  if (info.lost.events > 0) parts.push(eventsLostText(info.lost.events));
  else if (lost.length > 0) parts.push(t('The recording is incomplete'));
  if (notes.length > 0) parts.push(notesText(notes.length));
  const severe = lost.length > 0 || !notes.every(({ chosen }) => chosen);
  return { title: parts.join(' · '), lines: [...lost, ...notes.map(({ text }) => text)], severe };
}
