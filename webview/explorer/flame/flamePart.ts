// The tab with the flame graph: what it weighs, the search, and a line about the active frame.
import { t } from '@vscode/l10n';
import type { TreeWeight } from '../../../extension/protocol/requests/treeRequests';
import type { Moment } from '../../../extension/protocol/requests/moment';
import { formatBytes } from '../../../extension/text/format';
import { dropdown, textField, openBelow } from '../../components';
import { button, differs, el, setAttribute, setText } from '../../dom';
import { matchesText } from '../common/counts';
import { flameTree, type FlameNode } from './tree';
import { FlameView } from './flameView';
import { PolledPart, type PageActions, type PageContext } from '../state/part';
import { FIGURES_MS } from '../state/poller';
import { setWrapped } from '../common/named';
import { isLibrary } from '../common/stack';

/** What is smaller than this part of the whole is less than a pixel of the widest screen. */
const MIN_SHARE = 0.0004;
const WEIGHTS: readonly (readonly [TreeWeight, string])[] = [
  ['live', t('Live')],
  ['peak', t('Peak per stack')],
  ['churn', t('Total allocated')],
  ['modules', t('Live by module')],
];

/** What decides what the graph shows. */
const questionOf = ({ view, layer }: PageContext) => {
  const { process, device, moment, flame } = view;
  return { layer, process, device, moment, weight: flame.weight, minShare: MIN_SHARE };
};

export class FlamePart extends PolledPart {
  readonly element: HTMLElement;
  private readonly view: FlameView;
  private readonly weight = dropdown('flame-weight', t('Width of a frame'), WEIGHTS, weight =>
    this.page.dispatch({ type: 'flame', flame: { weight } }),
  );
  private readonly fold = button('toggle', 'fold', t('Fold libraries'), () => this.toggleFold());
  private readonly out = button('toggle', 'zoom-out', t('Zoom out'), () => this.view.zoomOut());
  private readonly found = el('span', { class: 'dim number', role: 'status' });
  private readonly words = el('span', { class: 'flame-words', role: 'status', 'data-value': 'flame-status' });
  private readonly openButton = button('link', 'flame-open', t('Open line'), () => {
    if (this.active) this.page.openLine(this.active.file, this.active.line);
  });
  private readonly detailsButton = button('link', 'flame-details', t('Details'), () => {
    if (this.active) this.details(this.active);
  });
  private readonly none = el('p', { class: 'none dim' }, t('No allocations in this layer. Choose another layer.'));
  private active: FlameNode | null = null;
  drawn?: Moment;

  /** @param onDrawn another moment is shown now */
  constructor(
    page: PageActions,
    private readonly onDrawn: () => void,
  ) {
    super(page, FIGURES_MS, ['flame', 'layer', 'moment', 'process', 'device'], true);
    this.view = new FlameView({
      openLine: page.openLine,
      active: node => this.showWords(node),
      details: node => this.details(node),
    });
    openBelow(this.weight);
    const foot = el('div', { class: 'flame-foot' }, this.words, this.openButton, this.detailsButton);
    this.element = el('div', { class: 'flame' }, this.toolbar(), this.view.root, this.none, foot);
    this.none.hidden = true;
  }

  override update({ view }: PageContext): void {
    this.weight.set(view.flame.weight);
    setAttribute(this.fold, 'aria-pressed', String(view.flame.fold));
  }

  forget(): void {
    this.view.forget();
    this.active = null;
    delete this.drawn;
    setText(this.words, '');
  }

  private toolbar(): HTMLElement {
    this.fold.title = t('Show consecutive library frames as one');
    const box = textField('flame-search', t('Find frames by function or file'), t('Find, e.g. forward'), '', text =>
      this.showMatches(text),
    );
    box.addEventListener('keydown', event => event.key === 'Enter' && this.view.nextMatch());
    const controls = el('div', { class: 'controls' }, box, this.weight.element, this.fold, this.out, this.found);
    return el('div', { class: 'toolbar' }, controls);
  }

  private toggleFold(): void {
    const fold = !(this.page.now()?.view.flame.fold ?? true);
    this.page.dispatch({ type: 'flame', flame: { fold } });
  }

  private showMatches(text: string): void {
    const { ids, bytes } = this.view.search(text);
    setText(this.found, text.trim() === '' ? '' : matchesText(ids.size, formatBytes(bytes)));
  }

  private showWords(node: FlameNode): void {
    this.active = node;
    setWrapped(this.words, this.view.describe(node).join(' · '));
    this.openButton.hidden = node.line === 0;
    this.detailsButton.hidden = node.site === 0;
    this.out.hidden = this.view.zoomedOut;
  }

  private details(node: FlameNode): void {
    const context = this.page.now();
    if (!context || context.view.flame.weight === 'modules') return; // they have no stack
    const { layer } = context;
    this.page.show({
      key: `flame/${layer}/${node.id}`,
      title: node.label,
      tooltip: isLibrary(node.file) ? '' : `${node.file}:${node.line}`,
      summary: t('{0} · largest call stack:', this.view.describe(node).slice(1).join(' · ')),
      site: node.site,
      blocks: { layer, site: node.site },
      liveCount: node.liveCount,
    });
  }

  protected async load(): Promise<void> {
    const before = this.page.now();
    if (!before) return;
    const question = questionOf(before);
    const tree = await this.page.request('stackTree', question);
    const after = this.page.now();
    if (!tree || !after || JSON.stringify(questionOf(after)) !== JSON.stringify(question)) return;
    this.drawn = question.moment;
    this.onDrawn();
    if (!differs(this.element, question, tree.revision, after.view.flame.fold)) return;
    this.none.hidden = tree.totalBytes > 0;
    this.view.root.hidden = tree.totalBytes <= 0;
    this.view.show(flameTree(tree, after.view.flame.fold));
  }
}
