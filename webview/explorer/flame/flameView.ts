// A flame graph that grows downwards: rectangles as the items of a tree, one of them active, one the zoomed one.
import { t } from '@vscode/l10n';
import { fileLine, formatBytes } from '../../../extension/text/format';
import { el, onFrame, setAttribute, setAttributes, setText } from '../../dom';
import { liveBlocksText } from '../common/counts';
import { flameHue } from './hue';
import { flameLayout, moveIn, rowsOf, type FlameRect } from './flameLayout';
import { findNode, search, type FlameNode, type Matches } from './tree';
import type { OpenLine } from '../common/lineLink';
import { hueStyle, onLinesNamed } from '../common/hues';
import { revealRow } from '../common/rowKeys';
import { textPx } from '../common/textPx';
import { Tooltip } from '../common/tooltip';

export interface FlameActions {
  openLine: OpenLine;
  /** Another node is the active one, or it has new figures. */
  active(node: FlameNode): void;
  details(node: FlameNode): void;
}

const ROW_PX = 20;
const LEAST_PX = 2;
/** Narrower than this a name is not read. */
const TEXT_PX = 22;
/** Of the page's font, and what is left of a text and right of it. */
const FONT_PART = 0.85;
const PAD_PX = 7;
const OVERSCAN_ROWS = 4;

export class FlameView {
  readonly element = el('div', { class: 'flame-scroller', role: 'tree', tabindex: 0 });
  private readonly surface = el('div', { class: 'flame-surface', role: 'presentation' });
  /** What is put on the page. */
  readonly root = el('div', { class: 'flame-frame' }, this.element);
  private readonly tooltip = new Tooltip(this.root);
  private readonly items = new Map<number, HTMLElement>();
  private whole: FlameNode | null = null;
  private zoomed: FlameNode | null = null;
  private activeNode: FlameNode | null = null;
  private rects: FlameRect[] = [];
  private byNode = new Map<number, FlameRect>();
  private matches: Matches = { ids: new Set(), bytes: 0 };
  private text = '';

  constructor(private readonly actions: FlameActions) {
    const label = t('Flame graph. Arrow keys move, Enter zooms in, Escape zooms out, Ctrl+Enter opens the line.');
    this.element.setAttribute('aria-label', label);
    this.element.append(this.surface);
    this.element.addEventListener('keydown', event => this.onKey(event));
    this.element.addEventListener('scroll', () => onFrame(this.draw));
    this.surface.addEventListener('click', event => this.onClick(event));
    this.surface.addEventListener('dblclick', event => this.open(this.nodeAt(event)));
    this.surface.addEventListener('pointermove', event => this.onPointer(event));
    new ResizeObserver(() => this.layout()).observe(this.element);
    onLinesNamed(() => onFrame(this.draw));
  }

  get zoomedOut(): boolean {
    return this.zoomed === this.whole;
  }

  /** New figures: zoom and active node stay where they are still shown. */
  show(whole: FlameNode): void {
    this.zoomed = this.find(whole, this.zoomed) ?? whole;
    this.activeNode = this.find(whole, this.activeNode) ?? this.zoomed;
    this.whole = whole;
    this.matches = search(whole, this.text);
    this.layout();
    this.actions.active(this.activeNode);
  }

  forget(): void {
    this.whole = this.zoomed = this.activeNode = null;
    this.rects = [];
    onFrame(this.draw);
  }

  /** Marks what matches. */
  search(text: string): Matches {
    this.text = text;
    if (this.whole) this.matches = search(this.whole, text);
    onFrame(this.draw);
    return this.matches;
  }

  /** The next match after the active node becomes the active one. */
  nextMatch(): void {
    const found = this.rects.map(rect => rect.node).filter(node => this.matches.ids.has(node.id));
    const at = this.activeNode ? found.indexOf(this.activeNode) : -1;
    const next = found[(at + 1) % Math.max(found.length, 1)];
    if (next) this.activate(next);
  }

  zoomOut(): void {
    if (this.zoomed?.parent) this.zoom(this.zoomed.parent);
  }

  /** It does not match the search. */
  private dimmed(node: FlameNode): boolean {
    return this.matches.ids.size > 0 && !this.matches.ids.has(node.id);
  }

  private find(whole: FlameNode, node: FlameNode | null): FlameNode | null {
    for (let up = node; up; up = up.parent) {
      const found = findNode(whole, up.id);
      if (found) return found;
    }
    return null;
  }

  private zoom(node: FlameNode): void {
    this.zoomed = node;
    this.layout();
    this.activate(node);
  }

  private activate(node: FlameNode): void {
    this.activeNode = node;
    revealRow(this.element, node.depth * ROW_PX, ROW_PX);
    onFrame(this.draw);
    this.actions.active(node);
  }

  private layout(): void {
    const width = this.surface.clientWidth;
    if (!this.zoomed || width === 0) return;
    this.rects = flameLayout(this.zoomed, LEAST_PX / width);
    this.byNode = new Map(this.rects.map(rect => [rect.node.id, rect]));
    onFrame(this.draw);
  }

  private readonly draw = (): void => {
    const width = this.surface.clientWidth;
    this.surface.style.height = `${rowsOf(this.rects) * ROW_PX}px`;
    const first = Math.floor(this.element.scrollTop / ROW_PX) - OVERSCAN_ROWS;
    const last = first + Math.ceil(this.element.clientHeight / ROW_PX) + 2 * OVERSCAN_ROWS;
    const shown = this.rects.filter(({ row, node }) => (row >= first && row <= last) || node === this.activeNode);
    const shownIds = new Set(shown.map(({ node }) => node.id));
    for (const [id, item] of this.items) if (!shownIds.has(id) && this.items.delete(id)) item.remove();
    for (const rect of shown) this.drawRect(rect, width);
    setAttribute(this.element, 'aria-activedescendant', this.activeNode ? `flame-${this.activeNode.id}` : '');
  };

  /** Where a frame ends: at least a pixel from its beginning, and never behind its parent. */
  private rightOf({ id, parent }: FlameNode, fullPx: number): number {
    const rect = this.byNode.get(id);
    if (rect === undefined) return fullPx;
    const own = rect.x * fullPx + Math.max(rect.width * fullPx - 1, 1);
    return parent === null ? own : Math.min(own, this.rightOf(parent, fullPx));
  }

  private drawRect({ node, x, row, above }: FlameRect, fullPx: number): void {
    const item = this.items.get(node.id) ?? this.makeItem(node.id);
    const siblings = node.parent?.children ?? [node];
    const px = Math.max(this.rightOf(node, fullPx) - x * fullPx, 0);
    item.style.transform = `translate(${(x * fullPx).toFixed(2)}px, ${row * ROW_PX}px)`;
    item.style.width = `${px.toFixed(2)}px`;
    const line = flameHue(node);
    item.style.setProperty('--hue', line === null ? '' : hueStyle(line.hue));
    item.style.setProperty('--shade', line === null ? '' : String(line.shade));
    setAttributes(item, {
      class: classOf(node, above),
      'data-hue': line?.hue ?? '',
      'data-file': node.file,
      'data-line': node.line,
      'aria-level': row + 1,
      'aria-posinset': siblings.indexOf(node) + 1,
      'aria-setsize': siblings.length,
      'aria-selected': String(node === this.activeNode),
      'aria-expanded': node.children.length > 0 ? 'true' : null,
      'aria-label': this.describe(node).join(', '),
      'data-match': this.matches.ids.has(node.id),
      'data-dim': this.dimmed(node),
      'data-zoomed': node === this.zoomed,
    });
    setText(item, px < TEXT_PX ? '' : textOf(node, px));
  }

  private makeItem(id: number): HTMLElement {
    const item = el('div', { role: 'treeitem', id: `flame-${id}`, 'data-node': id });
    this.items.set(id, item);
    this.surface.append(item);
    return item;
  }

  /** The text of a node: its name and place, its bytes and its part of the whole. */
  describe(node: FlameNode): string[] {
    const whole = Math.max(this.whole?.sumBytes ?? 0, 1);
    const part = `${((node.sumBytes / whole) * 100).toFixed(1)}%`;
    const all = `${formatBytes(node.sumBytes)}, ${part}`;
    const self = node.selfBytes > 0 && node.selfBytes !== node.sumBytes;
    const bytes = self ? t('{0}, {1} self', all, formatBytes(node.selfBytes)) : all;
    const blocks = node.liveCount > 0 ? [liveBlocksText(node.liveCount)] : [];
    const place = node.line > 0 && node.folded < 2 ? [fileLine(node.file, node.line)] : [];
    return [node.label, ...place, bytes, ...blocks];
  }

  private nodeAt(event: Event): FlameNode | null {
    const item = (event.target as Element).closest('[data-node]');
    const id = Number(item?.getAttribute('data-node') ?? NaN);
    return this.rects.find(({ node }) => node.id === id)?.node ?? null;
  }

  private open(node: FlameNode | null): void {
    if (node && node.line > 0) this.actions.openLine(node.file, node.line);
  }

  private onClick(event: MouseEvent): void {
    const node = this.nodeAt(event);
    if (!node) return;
    if (event.ctrlKey || event.metaKey) return this.open(node);
    this.zoom(node);
  }

  private onPointer(event: PointerEvent): void {
    const node = this.nodeAt(event);
    if (node) this.tooltip.show(this.describe(node), event.clientX, event.clientY);
    else this.tooltip.hide();
  }

  private onKey(event: KeyboardEvent): void {
    const { activeNode } = this;
    if (!activeNode || event.altKey) return;
    const control = event.ctrlKey || event.metaKey;
    const to = control ? undefined : moveIn(this.rects, activeNode, event.key);
    if (to) this.activate(to);
    else if (event.key === 'Enter' && control) this.open(activeNode);
    else if (event.key === 'Enter') this.zoom(activeNode);
    else if (event.key === ' ') this.actions.details(activeNode);
    else if (event.key === 'Escape' && !this.zoomedOut) this.zoomOut();
    else return;
    event.preventDefault();
  }
}

function classOf(node: FlameNode, above: boolean): string {
  const kind = node.parent === null ? 'whole' : node.library ? 'library' : node.file === '' ? 'native' : 'user';
  return `flame-rect ${kind}${above ? ' above' : ''}`;
}

/** With its place where that fits whole. */
function textOf({ label, file, line, folded }: FlameNode, px: number): string {
  if (line <= 0 || folded >= 2) return label;
  const text = `${label} ${fileLine(file, line)}`;
  return FONT_PART * textPx(text) + PAD_PX <= px ? text : label;
}
