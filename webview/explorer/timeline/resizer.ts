// The lower edge of the timeline, which can be dragged, or moved by the arrow keys.
import { t } from '@vscode/l10n';
import { el, setAttribute, setAttributes } from '../../dom';

const LEAST_PX = 96;
const STEP_PX = 16;

export class TimelineResizer {
  readonly element = el('div', {
    class: 'timeline-resizer',
    role: 'separator',
    tabindex: 0,
    'aria-orientation': 'horizontal',
    'aria-label': t('Timeline height'),
    title: t('Drag to resize the timeline; double-click to reset it'),
  });

  private px: number | null | undefined;

  /** @param choose a height in pixels; null: the usual one */
  constructor(
    private readonly surface: HTMLElement,
    private readonly choose: (px: number | null) => void,
  ) {
    this.element.addEventListener('pointerdown', event => this.drag(event));
    this.element.addEventListener('focus', () => this.describe());
    this.element.addEventListener('dblclick', () => choose(null));
    this.element.addEventListener('keydown', event => this.onKey(event));
  }

  set(px: number | null): void {
    if (px === this.px) return;
    this.px = px;
    this.surface.style.setProperty('--gm-timeline', px === null ? '' : `${px}px`);
    this.describe();
  }

  /** Its place for screen readers, while it has the focus: the usual one depends on the window. */
  private describe(): void {
    setAttributes(this.element, { 'aria-valuemin': LEAST_PX, 'aria-valuemax': this.mostPx });
    setAttribute(this.element, 'aria-valuenow', String(Math.round(this.surface.clientHeight)));
  }

  private get mostPx(): number {
    return Math.max(LEAST_PX, Math.round(window.innerHeight * 0.6));
  }

  private take(px: number): void {
    this.choose(Math.round(Math.min(this.mostPx, Math.max(LEAST_PX, px))));
  }

  private drag({ pointerId, clientY }: PointerEvent): void {
    const from = this.surface.clientHeight;
    const move = (event: PointerEvent): void => this.take(from + event.clientY - clientY);
    this.element.setPointerCapture(pointerId);
    this.element.addEventListener('pointermove', move);
    const end = (): void => this.element.removeEventListener('pointermove', move);
    for (const type of ['pointerup', 'pointercancel'] as const)
      this.element.addEventListener(type, end, { once: true });
  }

  private onKey(event: KeyboardEvent): void {
    const by = { ArrowUp: -STEP_PX, ArrowDown: STEP_PX }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.take(this.surface.clientHeight + by);
  }
}
