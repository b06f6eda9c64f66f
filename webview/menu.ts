// A menu that pops up: by mouse, and by keyboard as the ARIA pattern of menus has it. The focus goes back where it was.
import { el, icon, onFrame, setAttribute, setText } from './dom';

export interface MenuItem {
  id: string;
  label: string;
  /** Present: it is switched on or off, and the menu stays. */
  checked?: boolean;
  /** Its label once an item of the menu was switched; absent: as it was. */
  relabel?(): string;
  disabled?: boolean;
  /** Keys that do the same, as they are shown. */
  keys?: string;
  run(): void;
}
/** null: a line between items. */
export type MenuEntry = MenuItem | null;

let open: { element: HTMLElement; close(): void } | null = null;

/** Shows a menu at a place of the page; one at a time. `label` names it for screen readers. */
export function openMenu(label: string, entries: readonly MenuEntry[], at: { x: number; y: number }): void {
  open?.close();
  const before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  const element = el('div', { class: 'menu', role: 'menu', 'aria-label': label, tabindex: -1 });
  const close = (): void => {
    if (open?.element !== element) return;
    open = null;
    removeEventListener('pointerdown', outside, true);
    removeEventListener('blur', close);
    removeEventListener('resize', close);
    const hadFocus = element.contains(document.activeElement);
    element.remove();
    if (hadFocus) before?.focus({ preventScroll: true });
  };
  const outside = (event: Event): void => {
    if (!element.contains(event.target as Node)) close();
  };
  open = { element, close };
  const switched = (): void => {
    const labels = element.querySelectorAll('.menu-label');
    for (const [i, item] of entries.filter(entry => entry !== null).entries())
      if (item.relabel && labels[i]) setText(labels[i], item.relabel());
  };
  element.append(...entries.map(entry => (entry ? itemOf(entry, close, switched) : el('hr', { role: 'separator' }))));
  element.addEventListener('keydown', event => onKey(event, element, close));
  element.addEventListener('contextmenu', event => event.preventDefault());
  addEventListener('pointerdown', outside, true);
  addEventListener('blur', close);
  addEventListener('resize', close);
  document.body.append(element);
  place(element, at);
  (itemsOf(element)[0] ?? element).focus({ preventScroll: true });
}

function itemOf(item: MenuItem, close: () => void, switched: () => void): HTMLElement {
  const { id, label, checked, disabled = false, keys } = item;
  const role = checked === undefined ? 'menuitem' : 'menuitemcheckbox';
  const element = el('button', { type: 'button', class: 'menu-item', role, tabindex: -1, 'data-item': id });
  const mark = icon('check');
  mark.classList.add('menu-mark');
  element.append(mark, el('span', { class: 'menu-label' }, label));
  if (keys) element.append(el('span', { class: 'menu-keys dim', 'aria-hidden': 'true' }, keys));
  if (checked !== undefined) setAttribute(element, 'aria-checked', String(checked));
  if (disabled) setAttribute(element, 'aria-disabled', 'true');
  element.addEventListener('mousemove', ({ movementX, movementY }) => {
    // A menu that opens below a mouse at rest leaves the focus to the keys.
    if (movementX !== 0 || movementY !== 0) element.focus({ preventScroll: true });
  });
  element.addEventListener('click', () => {
    if (disabled) return;
    if (checked === undefined) close();
    else setAttribute(element, 'aria-checked', String(element.getAttribute('aria-checked') !== 'true'));
    item.run();
    if (checked !== undefined) onFrame(switched);
  });
  return element;
}

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('.menu-item')];
}

function onKey(event: KeyboardEvent, menu: HTMLElement, close: () => void): void {
  const items = itemsOf(menu);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const last = items.length - 1;
  const to = { ArrowDown: at === last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last }[event.key];
  if (to !== undefined) items[to]?.focus();
  else if (event.key === 'Escape' || event.key === 'Tab') close();
  else if (event.key.length === 1 && event.key !== ' ') startingWith(items, at, event.key)?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** The next item whose label begins with a letter. */
function startingWith(items: readonly HTMLElement[], at: number, letter: string): HTMLElement | undefined {
  const begins = (item: HTMLElement): boolean =>
    (item.textContent ?? '').toLowerCase().startsWith(letter.toLowerCase());
  return [...items.slice(at + 1), ...items.slice(0, at + 1)].find(begins);
}

/** Where it fits into the window. */
function place(element: HTMLElement, { x, y }: { x: number; y: number }): void {
  const { width, height } = element.getBoundingClientRect();
  element.style.left = `${Math.max(2, Math.min(x, innerWidth - width - 2))}px`;
  element.style.top = `${y + height + 2 > innerHeight ? Math.max(2, y - height) : y}px`;
}
