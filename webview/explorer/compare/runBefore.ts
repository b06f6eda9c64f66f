// On top of the page: the run beside the one of the same program before it, without a question by the user.
import { t } from '@vscode/l10n';
import { pointText, type RunComparison } from '../../../extension/protocol/requests/compareRequests';
import { button, el, icon, setAttribute, setHidden } from '../../dom';
import { setWrapped } from '../common/named';
import { PolledPart, type PageActions, type PageContext } from '../state/part';

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
    this.element.append(this.link, el('p', { role: 'status' }, this.mark, this.sentence));
    this.forget();
  }

  /** It has its room from the begin, so that a verdict moves nothing. */
  override update({ session: { before } }: PageContext): void {
    setHidden(this.element, before === undefined);
  }

  forget(): void {
    setHidden(this.element, true);
    this.show(null);
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
    setHidden(this.element, before === undefined); // also where there is no trace
    this.show(found ?? null);
  }

  private show(found: RunComparison | null): void {
    setAttribute(this.element, 'data-verdict', found?.verdict ?? '');
    setAttribute(this.mark, 'class', `codicon codicon-${ICONS[found?.verdict ?? 'unknown']}`);
    setWrapped(this.sentence, found?.sentences.join(' ') ?? t('There is a previous run.'));
  }
}
