// Small lines above the table: out of memory, what was lost and why, what the processes said.
import { t } from '@vscode/l10n';
import { isWarning } from '../../../extension/protocol/notes';
import { formatBytes, formatCount, formatDuration } from '../../../extension/protocol/format';
import type { Method } from '../../../extension/protocol/requests/messages';
import type { OutOfMemory, Site, TraceInfo } from '../../../extension/protocol/trace';
import { differs, el, icon, setAttribute, setText, setTextOrHide } from '../../dom';
import { earlierText, eventsLostText, notesText } from '../common/counts';
import { baseName } from '../common/stack';
import type { PageActions } from './part';

const SHOWN_EVENTS = 3;

export class Notices {
  readonly element = el('div', { class: 'notices' });
  private readonly memory = el('div', { class: 'out-of-memory' });
  private readonly warningTitle = el('span', {});
  private readonly warningList = el('ul', {});
  private readonly warning = el('details', { class: 'notice warning', 'data-notice': 'losses' });
  private readonly error = el('p', { class: 'notice error', role: 'alert', 'data-notice': 'error' });
  private readonly sites = new Map<number, Promise<Site | null>>();
  private readonly errors = new Map<Method, string>();

  constructor(private readonly page: PageActions) {
    this.warning.append(el('summary', {}, icon('warning'), this.warningTitle), this.warningList);
    this.error.hidden = this.warning.hidden = true;
    this.element.append(this.error, this.memory, this.warning);
  }

  update(info: TraceInfo | null): void {
    this.updateWarning(info);
    const events = info?.outOfMemory ?? [];
    const count = info?.outOfMemoryCount ?? 0;
    if (!differs(this.memory, info?.startRealtimeMs, count)) return;
    this.sites.clear();
    const latest = events.slice(-SHOWN_EVENTS).reverse();
    const older = count - latest.length;
    this.memory.replaceChildren(...latest.map(event => this.memoryRow(event)));
    if (older > 0) this.memory.append(el('p', { class: 'dim more' }, earlierText(older)));
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

  private memoryRow(event: OutOfMemory): HTMLElement {
    const text = el('span', {}, t('Out of memory: asked {0}', formatBytes(event.requestedBytes)));
    const when = ` · ${t('{0} alive', formatBytes(event.liveBytes))} · ${formatDuration(event.timeNs)}`;
    const row = el('button', { type: 'button', class: 'notice error', 'data-notice': 'out-of-memory' });
    row.append(icon('error'), text, el('span', { class: 'dim' }, when));
    const site = this.sites.get(event.site) ?? this.page.request('site', { id: event.site });
    this.sites.set(event.site, site);
    site.then(
      found => this.place(row, text, event, found),
      () => setAttribute(row, 'title', t('Its Python line could not be read')),
    );
    return row;
  }

  private place(row: HTMLElement, text: HTMLElement, event: OutOfMemory, site: Site | null): void {
    const frame = site ? (site.frames[site.userFrame] ?? site.frames[0]) : undefined;
    if (!frame) return;
    const at = `${baseName(frame.file)}:${frame.line}`;
    setText(text, t('Out of memory: asked {0} at {1}', formatBytes(event.requestedBytes), at));
    setAttribute(row, 'data-file', frame.file);
    setAttribute(row, 'data-line', String(frame.line));
    row.addEventListener('click', () => this.page.openLine(frame.file, frame.line));
  }

  private updateWarning(info: TraceInfo | null): void {
    const { title, lines } = warnings(info);
    if (!differs(this.warning, title, lines)) return;
    this.warning.hidden = title === '';
    setText(this.warningTitle, title);
    this.warningList.replaceChildren(...lines.map(line => el('li', {}, line)));
  }
}

/** One line for losses and notes together, and the details behind it; an empty title = nothing to say. */
export function warnings(info: TraceInfo | null): { title: string; lines: string[] } {
  if (!info) return { title: '', lines: [] };
  const lost = Object.entries(info.lost.byCause).filter(([, count]) => count > 0);
  const notes = info.processes.flatMap(process =>
    process.notes.filter(isWarning).map(note => t('Process {0}: {1}', process.pid, note.text)),
  );
  const parts: string[] = [];
  if (info.lost.events > 0) parts.push(eventsLostText(info.lost.events));
  else if (lost.length > 0) parts.push(t('Something was not recorded'));
  if (notes.length > 0) parts.push(notesText(notes.length));
  const causes = lost.map(([cause, count]) => `${cause}: ${formatCount(count)}`);
  return { title: parts.join(' · '), lines: [...causes, ...notes] };
}
