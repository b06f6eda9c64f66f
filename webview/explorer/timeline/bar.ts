// The line below the chart: what can be shown of the selected span, what is being read, and which moment is shown.
import { t } from '@vscode/l10n';
import { button, el, icon, setAttribute, setHidden, setText, setTextOrHide } from '../../dom';

export type SpanChoice = 'born' | 'end' | 'peak';
export interface TimelineBarActions {
  choose(choice: SpanChoice): void;
  /** The span is selected no longer. */
  clear(): void;
  cancel(): void;
  /** Back to the present. */
  now(): void;
}
/** A button that leads to another moment, in words. */
export interface MomentTarget {
  text: string;
  title: string;
}
export interface BarState {
  /** What is selected, in words; null without a span. */
  span: string | null;
  /** What is shown of it; null: something else. */
  choice: SpanChoice | null;
  /** How much of what was allocated in it is still there, or its peak; '' while that is not known. */
  fact: string;
  /** `Reading up to step 340… 45%`; null while nothing is read. */
  reading: string | null;
  /** Title of the shown moment; null where the span or `choice` says it. */
  moment: string | null;
  /** Why it is shown; '' where the user chose it. */
  reason: string;
  /** Where the button leads; null: the present is shown. */
  to: MomentTarget | null;
}

const CHOICES: readonly (readonly [SpanChoice, string, string])[] = [
  ['born', t('Still live'), t('Count only memory allocated in the span and not freed since (Enter)')],
  ['end', t('At its end'), t('Show rows as of the end of the span')],
  ['peak', t('Its peak'), t('Show rows as of the peak in the span')],
];

export class TimelineBar {
  readonly element = el('div', {
    class: 'timeline-bar',
    role: 'group',
    'aria-label': t('Selected span and shown moment'),
  });
  private readonly span = el('span', { class: 'span-text number', 'data-value': 'span' });
  private readonly fact = el('span', { class: 'dim number', 'data-value': 'kept' });
  private readonly spanPart: HTMLElement;
  private readonly choices: readonly (readonly [SpanChoice, HTMLElement])[];
  private readonly reading = el('span', { 'data-value': 'reading' });
  private readonly readingPart: HTMLElement;
  private readonly moment = el('strong', { 'data-value': 'moment' });
  private readonly reason = el('span', { class: 'dim', 'data-value': 'reason' });
  private readonly now = chip('moment-now', '', '', () => this.actions.now());
  private readonly momentPart: HTMLElement;
  private readonly status = el('span', { class: 'said', role: 'status' });

  constructor(private readonly actions: TimelineBarActions) {
    this.choices = CHOICES.map(([choice, label, title]) => [
      choice,
      chip(`span-${choice}`, label, title, () => actions.choose(choice)),
    ]);
    const chips = this.choices.map(([, element]) => element);
    const clear = chip('span-clear', icon('close'), t('Clear the selection (Escape)'), () => actions.clear());
    this.spanPart = el(
      'div',
      { class: 'bar-part' },
      this.span,
      clear,
      this.fact,
      el('div', { class: 'bar-choices' }, ...chips),
    );
    const cancel = chip('moment-cancel', t('Cancel'), t('Stop reading and keep the view'), () => actions.cancel());
    this.readingPart = el('div', { class: 'bar-part' }, this.reading, cancel);
    const title = el('span', {}, icon('history'), ' ', this.moment);
    this.momentPart = el('div', { class: 'bar-part bar-moment' }, title, this.reason, this.now);
    this.element.append(this.spanPart, this.readingPart, this.momentPart, this.status);
  }

  update({ span, choice, fact, reading, moment, reason, to }: BarState): void {
    setHidden(this.spanPart, span === null);
    setHidden(this.readingPart, reading === null);
    setHidden(this.momentPart, moment === null || reading !== null);
    setText(this.span, span ?? '');
    for (const [one, element] of this.choices) setAttribute(element, 'aria-pressed', String(one === choice));
    setText(this.fact, fact);
    setText(this.reading, reading ?? '');
    setText(this.moment, moment ?? '');
    setTextOrHide(this.reason, reason);
    setAttribute(this.moment, 'title', [moment, reason].filter(Boolean).join(' '));
    this.now.toggleAttribute('inert', to === null); // keeps its place
    setText(this.now, to?.text ?? '\u00a0');
    setAttribute(this.now, 'title', to?.title ?? '');
  }

  /** For screen readers, once. */
  announce(text: string): void {
    setText(this.status, text);
  }
}

export function chip(action: string, label: string | Node, title: string, onClick: () => void): HTMLElement {
  return button('chip', action, [label], onClick, { title, 'aria-label': typeof label === 'string' ? null : title });
}
