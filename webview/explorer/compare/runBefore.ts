// On top of the page: the run beside the one of the same program before it, without a question by the user.
import { t } from '@vscode/l10n';
import { pointText, type RunComparison } from '../../../extension/protocol/requests/compareRequests';
import { button, el, icon, setAttribute } from '../../dom';
import { setWrapped } from '../common/named';
import { PolledPart, type PageActions } from '../state/part';

const INTERVAL_MS = 1_000;
const ICONS: Record<RunComparison['verdict'], string> = {
  good: 'pass',
  bad: 'warning',
  early: 'watch',
  unknown: 'watch',
};

export class RunBefore extends PolledPart {
  readonly element = el('section', { class: 'run-before', 'aria-label': t('Compared with the previous run') });
  private readonly mark = icon('watch');
  private readonly sentence = el('span', { 'data-value': 'run-before' });
  private readonly link = button('link', 'compare-runs', t('Compare runs'), () => this.compare());

  constructor(page: PageActions) {
    super(page, INTERVAL_MS);
    this.element.append(el('p', { role: 'status' }, this.mark, this.sentence), this.link);
    this.element.hidden = true;
  }

  forget(): void {
    this.element.hidden = true;
  }

  private get before(): number | undefined {
    return this.page.now()?.session.before;
  }

  private compare(): void {
    const { before: trace } = this;
    if (trace === undefined) return;
    this.page.dispatch({ type: 'compare', compare: { a: pointText({ trace, timeNs: null }), b: null } });
    this.page.dispatch({ type: 'tab', tab: 'compare' });
  }

  protected async load(): Promise<void> {
    const { before } = this;
    const found = before === undefined ? null : await this.page.request('compareRuns', { before });
    if (before !== this.before) return this.poller.invalidate();
    this.element.hidden = !found;
    if (!found) return;
    setAttribute(this.element, 'data-verdict', found.verdict);
    setAttribute(this.mark, 'class', `codicon codicon-${ICONS[found.verdict]}`);
    setWrapped(this.sentence, found.sentences.join(' '));
  }
}
