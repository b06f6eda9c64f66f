// What the colours of the segment map mean; a line that is pressed is seen alone.
import { formatBytes } from '../../../extension/text/format';
import { button, el, setAttribute } from '../../dom';
import { readHues } from '../common/hues';
import { wrapped } from '../common/named';
import { palette, type SegmentColours } from './colours';
import { onThemeChange, themeValue } from '../common/theme';

export class SegmentKeys {
  readonly element = el('div', { class: 'keys segment-keys' });
  private colours: SegmentColours | null = null;
  private pressed = '';

  /** @param highlight the line that is seen alone, '' for none */
  constructor(private readonly highlight: (line: string) => void) {
    onThemeChange(() => this.draw());
  }

  show(colours: SegmentColours): void {
    this.colours = colours;
    if (this.pressed !== '' && !colours.keys().some(key => key.name === this.pressed)) this.press('');
    this.draw();
  }

  private press(line: string): void {
    this.pressed = line;
    this.highlight(line);
    for (const key of this.element.querySelectorAll('[data-key-line]'))
      setAttribute(key, 'aria-pressed', String(key.getAttribute('data-key-line') === line));
  }

  private draw(): void {
    const { colours } = this;
    if (!colours) return;
    const shades = palette(colours.by, readHues(), themeValue('--gm-dim'));
    const focused = document.activeElement?.getAttribute('data-key-line');
    const items = colours.keys().map(({ name, text, bytes, colour }) => {
      const swatch = el('i', {});
      swatch.style.background = shades[colour] ?? themeValue('--gm-dim');
      const words = [swatch, ...wrapped(text), ' ', el('span', { class: 'number unbroken' }, formatBytes(bytes))];
      if (name === '') return el('span', { class: 'key' }, ...words);
      const more = { title: name, 'data-key-line': name, 'aria-pressed': String(name === this.pressed) };
      return button('key', null, words, () => this.press(this.pressed === name ? '' : name), more);
    });
    this.element.replaceChildren(...items);
    if (focused) this.element.querySelector<HTMLElement>(`[data-key-line=${CSS.escape(focused)}]`)?.focus();
  }
}
