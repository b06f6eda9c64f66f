// A few lines beside the pointer, within an element.
import { el } from '../../dom';
import { wrapped } from './named';

const GAP_PX = 12;

export class Tooltip {
  readonly element = el('div', { class: 'tooltip', 'aria-hidden': 'true' });

  /** @param surface what it lies in; positioned */
  constructor(private readonly surface: HTMLElement) {
    this.element.hidden = true;
    surface.append(this.element);
    surface.addEventListener('pointerleave', () => this.hide());
  }

  /** @param x within the window's view, pixels */
  show(lines: readonly string[], clientX: number, clientY: number): void {
    const [first = '', ...rest] = lines;
    this.element.replaceChildren(
      el('strong', {}, ...wrapped(first)),
      ...rest.map(line => el('div', {}, ...wrapped(line))),
    );
    this.element.hidden = false;
    const box = this.surface.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const x = clientX - box.left + GAP_PX;
    const y = clientY - box.top + GAP_PX;
    const left = Math.max(0, Math.min(x, box.width - width));
    const top = y + height > box.height ? Math.max(0, y - height - 2 * GAP_PX) : y;
    this.element.style.transform = `translate(${left}px, ${top}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
