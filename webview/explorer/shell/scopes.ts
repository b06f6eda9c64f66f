// What the page is about: which session, and of it which process and device. Each is offered only where there is a choice.
import { t } from '@vscode/l10n';
import type { SessionEntry, SessionView } from '../../../extension/protocol/requests/messages';
import { baseName } from '../../../extension/text/format';
import type { DeviceInfo, ProcessInfo } from '../../../extension/protocol/trace';
import { dropdown, type Dropdown } from '../../components';
import { el, setHidden } from '../../dom';
import { setName } from '../common/named';
import type { PageActions } from '../state/part';
import { ALL, type ViewState } from '../state/state';

/** Behind the sessions: what was open before. */
const OPEN = 'open';

export class Scopes {
  readonly element: HTMLElement;
  private shown = '';
  private readonly session = dropdown<string>('session', t('Traced program or saved trace'), [], id => {
    if (id !== OPEN) return void this.page.request('showSession', { id: Number(id) });
    this.session.set(this.shown);
    void this.page.request('openTrace', undefined);
  });
  private readonly process = dropdown<string>('process', t('Process'), [], process => {
    this.page.dispatch({ type: 'process', process: Number(process) });
  });
  private readonly device = dropdown<string>('device', t('Device'), [], device => {
    this.page.dispatch({ type: 'device', device: Number(device) });
  });

  constructor(private readonly page: PageActions) {
    const parts = [this.session, this.process, this.device].map(({ element }) => element);
    this.element = el('div', { class: 'scopes', role: 'group', 'aria-label': t('Trace scope') }, ...parts);
  }

  update({ id, sessions, info }: SessionView, { process, device }: ViewState): void {
    this.shown = String(id);
    // Older runs leave the list: here they are found again.
    const others = sessions.length < 2 ? [] : [[OPEN, t('Open trace…')] as const];
    // The header has the name of the chosen one.
    const status = sessions.find(one => one.id === id)?.status ?? '';
    offer(this.session, [...sessions.map(sessionOption), ...others], this.shown, status);
    offer(this.process, withAll(t('All processes'), (info?.processes ?? []).map(processOption)), String(process));
    offer(this.device, withAll(t('All devices'), (info?.devices ?? []).map(deviceOption)), String(device));
    setHidden(
      this.element,
      [...this.element.children].every(child => (child as HTMLElement).hidden),
    );
  }
}

type Option = readonly [string, string];

/** What is chosen has one line: `short`. */
function offer(to: Dropdown<string>, options: readonly Option[], value: string, short = ''): void {
  const { element } = to;
  setHidden(element, options.length < 2);
  if (options.length < 2) return;
  to.offer(options, value);
  const whole = options.find(([key]) => key === value)?.[1] ?? '';
  const text = short || whole;
  element.title = whole;
  if (element.querySelector('.chosen')?.textContent === text) return;
  const primary = el('span', { class: 'primary' });
  setName(primary, text);
  element.querySelector('.chosen')?.remove();
  element.append(el('span', { class: 'chosen', slot: 'selected-value' }, primary));
}

/** One thing alone is no choice. */
function withAll(label: string, options: readonly Option[]): Option[] {
  return options.length < 2 ? [] : [[String(ALL), label], ...options];
}

function sessionOption({ id, title, status }: SessionEntry): Option {
  return [String(id), `${title} · ${status}`];
}

function processOption({ index, pid, command }: ProcessInfo): Option {
  const script = command.find(word => word.endsWith('.py')) ?? command[0] ?? t('process');
  return [String(index), pid === 0 ? baseName(script) : `${baseName(script)} (${pid})`];
}

function deviceOption({ index, name }: DeviceInfo): Option {
  return [String(index), t('GPU {0}: {1}', index, name)];
}
