// The controls of the pages. The only file that imports the toolkit: it is frozen upstream, and a successor can take its
// place here.
import { t } from '@vscode/l10n';
import {
  ProgressRing,
  provideVSCodeDesignSystem,
  TextField,
  vsCodeButton,
  vsCodeDropdown,
  vsCodeOption,
  vsCodeProgressRing,
  vsCodeTextField,
} from '@vscode/webview-ui-toolkit';
import { el, icon, setAttribute, setTextOrHide } from './dom';

/** Makes the custom elements known; once, before the first of them is built. */
export function registerComponents(): void {
  keepLabel(TextField.prototype);
  keepLabel(ProgressRing.prototype);
  provideVSCodeDesignSystem().register(
    vsCodeButton(),
    vsCodeDropdown(),
    vsCodeOption(),
    vsCodeProgressRing(),
    vsCodeTextField(),
  );
}

/** The toolkit writes an English label of its own over the one that these have. */
function keepLabel(prototype: TextField | ProgressRing): void {
  const { connectedCallback } = prototype;
  prototype.connectedCallback = function (this: HTMLElement): void {
    const label = this.getAttribute('aria-label');
    connectedCallback.call(this);
    if (label !== null) this.setAttribute('aria-label', label);
  };
}

/** A button that is only an icon; `action` names it for tests and styles. */
export function iconButton(action: string, iconName: string, label: string, onClick: () => void) {
  const image = icon(iconName);
  const element = el('vscode-button', { appearance: 'icon', 'data-action': action }, image);
  const set = (name: string, text: string): void => {
    setAttribute(image, 'class', `codicon codicon-${name}`);
    setAttribute(element, 'aria-label', text);
    setAttribute(element, 'title', text);
  };
  set(iconName, label);
  element.addEventListener('click', onClick);
  return { element, set };
}

/** The one prominent button of a state. */
export function primaryButton(action: string, label: string, onClick: () => void): HTMLElement {
  const element = el('vscode-button', { appearance: 'primary', 'data-action': action }, label);
  element.addEventListener('click', onClick);
  return element;
}

/** Its value and its text; a heading cannot be chosen. */
export type Option<T extends string> = readonly [T, string, 'heading'?];

export interface Dropdown<T extends string> {
  element: HTMLElement;
  set(value: T): void;
  /** Other options, and which of them is chosen. */
  offer(options: readonly Option<T>[], value: T): void;
}

export function dropdown<T extends string>(
  name: string,
  label: string,
  options: readonly Option<T>[],
  onChange: (value: T) => void,
): Dropdown<T> {
  const element = el('vscode-dropdown', { 'data-control': name, 'aria-label': label, title: label });
  let offered = '';
  const fill = (list: readonly Option<T>[], chosen?: T): void => {
    offered = JSON.stringify(list);
    const made = list.map(([value, text, heading]) =>
      el('vscode-option', { value, selected: value === chosen, disabled: heading !== undefined }, text),
    );
    element.replaceChildren(...made);
  };
  fill(options);
  const control = element as HTMLElement & { value: string; open: boolean };
  let known: T | undefined;
  const notify = (): void => {
    if (control.open || control.value === known) return;
    known = control.value as T;
    onChange(known);
  };
  element.addEventListener('change', notify);
  // The toolkit sends no event when the keys come back to what was chosen when the list was last open.
  element.addEventListener('keyup', notify);
  const set = (value: T): void => {
    if (control.open) return; // a choice is being made
    known = value;
    if (control.value !== value) control.value = value;
  };
  const offer = (list: readonly Option<T>[], value: T): void => {
    if (!control.open && JSON.stringify(list) !== offered) fill(list, value);
    set(value);
  };
  return { element, set, offer };
}

/** A one-line text box; `onInput` comes after each key. */
export function textField(
  name: string,
  label: string,
  placeholder: string,
  value: string,
  onInput: (value: string) => void,
): HTMLElement & { value: string } {
  const made = el('vscode-text-field', { 'data-control': name, 'aria-label': label, placeholder, value });
  const element = made as HTMLElement & { value: string };
  element.append(el('span', { slot: 'start', class: 'codicon codicon-filter', 'aria-hidden': 'true' }));
  element.addEventListener('input', () => onInput(element.value));
  return element;
}

export function progressRing(): HTMLElement {
  return el('vscode-progress-ring', { role: 'progressbar', 'aria-label': t('In progress') });
}

/** The list opens below: above, a panel that scrolls would cut it off. */
export function openBelow(...lists: readonly { element: HTMLElement }[]): void {
  for (const { element } of lists) setAttribute(element, 'position', 'below');
}

/** A short word in a frame. */
export function badge(kind: string) {
  const element = el('span', { class: 'badge', 'data-badge': kind });
  const set = (text: string, title: string): void => {
    setTextOrHide(element, text);
    setAttribute(element, 'title', title);
  };
  return { element, set };
}
