// One bar for each card: tensors, cache, the driver's rest, of the card's total.
import { formatBytes } from '../../extension/protocol/format';
import { el, setAttribute, setText } from '../dom';
import type { LedgerBar } from './ledger';

interface Part {
  key: string;
  name: string;
  title: string;
  bytes(bar: LedgerBar): number;
}

const PARTS: readonly Part[] = [
  { key: 'tensor', name: 'tensors', title: 'Alive tensors', bytes: bar => bar.tensorBytes },
  { key: 'cached', name: 'cached', title: 'Reserved by the allocator, no tensor in it', bytes: bar => bar.cachedBytes },
  {
    key: 'driver',
    name: 'other driver',
    title: 'Given out by the CUDA driver outside the allocator',
    bytes: bar => bar.otherBytes,
  },
  { key: 'free', name: 'not traced', title: 'Free, or used by what is not traced', bytes: bar => bar.freeBytes },
];

class BarView {
  readonly element: HTMLElement;
  private readonly name = el('span', { class: 'ledger-name' });
  private readonly bar = el('div', { class: 'ledger-bar', role: 'img' });
  private readonly segments = PARTS.map(part => el('i', { 'data-part': part.key }));
  private readonly figures = PARTS.map(() => el('span', { class: 'number' }));

  constructor() {
    this.bar.append(...this.segments);
    const keys = PARTS.map((part, i) =>
      el('span', { class: 'key', title: part.title }, el('i', { 'data-part': part.key }), `${part.name} `, this.figures[i]!),
    );
    this.element = el('div', { class: 'ledger-device' }, this.name, this.bar, el('div', { class: 'keys' }, ...keys));
  }

  update(bar: LedgerBar, named: boolean): void {
    setAttribute(this.element, 'data-device', String(bar.device));
    setText(this.name, named ? `gpu_${bar.device} ${bar.name}` : '');
    this.name.hidden = !named;
    const whole = Math.max(bar.totalBytes, bar.tensorBytes + bar.cachedBytes + bar.otherBytes, 1);
    const words: string[] = [];
    PARTS.forEach((part, i) => {
      const bytes = part.bytes(bar);
      this.segments[i]!.style.width = `${((bytes / whole) * 100).toFixed(2)}%`;
      setText(this.figures[i]!, formatBytes(bytes));
      words.push(`${part.name} ${formatBytes(bytes)}`);
    });
    setAttribute(this.bar, 'aria-label', `gpu_${bar.device}, ${bar.name}: ${words.join(', ')}`);
  }
}

export class LedgerView {
  readonly element = el('section', { class: 'ledger', 'aria-label': 'Memory of the GPU' });
  private readonly bars: BarView[] = [];

  update(bars: readonly LedgerBar[]): void {
    while (this.bars.length < bars.length) {
      const view = new BarView();
      this.bars.push(view);
      this.element.append(view.element);
    }
    while (this.bars.length > bars.length) this.bars.pop()!.element.remove();
    bars.forEach((bar, i) => this.bars[i]!.update(bar, true));
  }
}
