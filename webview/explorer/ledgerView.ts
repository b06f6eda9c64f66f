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
    name: 'other',
    title: 'Given out by the CUDA driver outside the allocator',
    bytes: bar => bar.otherBytes,
  },
];

function key(part: Part, figure: Node | string): HTMLElement {
  return el('span', { class: 'key', title: part.title }, el('i', { 'data-part': part.key }), `${part.name} `, figure);
}

class BarView {
  readonly element: HTMLElement;
  private readonly index = el('span', {});
  private readonly model = el('span', { class: 'ledger-model' });
  private readonly name = el('span', { class: 'ledger-name' }, this.index, this.model);
  private readonly whole = el('span', { class: 'ledger-whole number', title: 'Given out by the driver, of the total' });
  private readonly bar = el('div', { class: 'ledger-bar', role: 'img' });
  private readonly segments = PARTS.map(part => el('i', { 'data-part': part.key }));
  private readonly figures = PARTS.map(() => el('span', { class: 'number' }));

  constructor() {
    this.bar.append(...this.segments);
    const keys = el('div', { class: 'keys' }, ...PARTS.map((part, i) => key(part, this.figures[i]!)));
    this.element = el('div', { class: 'ledger-device' }, this.name, this.whole, this.bar, keys);
  }

  update(bar: LedgerBar): void {
    setAttribute(this.element, 'data-device', String(bar.device));
    setText(this.index, `gpu_${bar.device}`);
    setText(this.model, ` ${bar.name}`);
    setAttribute(this.name, 'title', bar.name);
    setText(this.whole, `${formatBytes(bar.totalBytes - bar.freeBytes)} / ${formatBytes(bar.totalBytes)}`);
    const whole = Math.max(bar.totalBytes, bar.tensorBytes + bar.cachedBytes + bar.otherBytes, 1);
    const words: string[] = [];
    PARTS.forEach((part, i) => {
      const bytes = part.bytes(bar);
      this.segments[i]!.style.width = `${((bytes / whole) * 100).toFixed(2)}%`;
      setText(this.figures[i]!, formatBytes(bytes));
      words.push(`${part.name} ${formatBytes(bytes)}`);
    });
    setAttribute(this.bar, 'aria-label', `gpu_${bar.device}, ${bar.name}: ${words.join(', ')}`);
    setAttribute(this.bar, 'title', words.join('\n'));
  }
}

export class LedgerView {
  readonly element = el('section', { class: 'ledger', 'aria-label': 'Memory of the GPU' });
  private readonly list = el('div', { class: 'ledger-list' });
  private readonly bars: BarView[] = [];

  constructor() {
    this.element.append(this.list, el('div', { class: 'keys shared' }, ...PARTS.map(part => key(part, ''))));
  }

  update(bars: readonly LedgerBar[]): void {
    while (this.bars.length < bars.length) {
      const view = new BarView();
      this.bars.push(view);
      this.list.append(view.element);
    }
    while (this.bars.length > bars.length) this.bars.pop()!.element.remove();
    bars.forEach((bar, i) => this.bars[i]!.update(bar));
    this.element.classList.toggle('many', bars.length > 1);
  }
}
