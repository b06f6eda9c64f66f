// The filter box: hints while it has the focus, what is wrong with a word, a button that clears it.
import { t } from '@vscode/l10n';
import { iconButton, textField } from '../../components';
import { el, setAttribute, setTextOrHide } from '../../dom';
import { filterProblem } from '../../../extension/text/filterWords';

const FILTER_HINT = t('Words in file, function, thread or name · >10MB <1GB · age>5steps');
const DELAY_MS = 150;
const LABEL = t('Filter rows by words (all must match), size (>10MB) and age (age>5steps)');

export class FilterBox {
  readonly element: HTMLElement & { value: string };
  /** The line below the controls. */
  readonly note = el('p', { class: 'filter-note', role: 'status', 'data-value': 'filter-note' });
  private readonly clearButton: HTMLElement;
  private timer = 0;
  private focused = false;
  /** The last filter that was requested, so that the answer to it does not change what is being typed. */
  private sent: string;

  constructor(
    text: string,
    private readonly apply: (text: string) => void,
  ) {
    this.sent = text;
    this.element = textField('filter', LABEL, t('Filter'), text, value => this.typed(value));
    this.element.title = LABEL;
    this.clearButton = iconButton('clear-filter', 'close', t('Clear the filter'), () => this.clear()).element;
    this.clearButton.slot = 'end';
    this.element.append(this.clearButton);
    this.element.addEventListener('focusin', () => this.focus(true));
    this.element.addEventListener('focusout', () => this.focus(false));
    this.element.addEventListener('keydown', event => this.onKey(event));
    this.show(text);
  }

  /** The filter as it is now, perhaps set by something else. */
  update(text: string): void {
    if (text === this.sent) return;
    this.sent = text;
    this.element.value = text;
    this.show(text);
  }

  private typed(text: string): void {
    clearTimeout(this.timer);
    this.show(text);
    if (filterProblem(text, t) === '') this.timer = setTimeout(() => this.send(text.trim()), DELAY_MS);
  }

  private send(text: string): void {
    clearTimeout(this.timer);
    this.sent = text;
    this.apply(text);
  }

  private clear(): void {
    this.element.value = '';
    this.show('');
    this.send('');
    this.element.focus();
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || this.element.value === '') return;
    event.preventDefault();
    this.clear();
  }

  private focus(focused: boolean): void {
    this.focused = focused;
    this.show(this.element.value ?? '');
  }

  private show(text: string): void {
    const problem = filterProblem(text, t);
    setTextOrHide(this.note, problem || (this.focused ? FILTER_HINT : ''));
    this.note.classList.toggle('wrong', problem !== '');
    setAttribute(this.element, 'aria-invalid', String(problem !== ''));
    this.clearButton.hidden = text === '';
  }
}
