// The tab "Fit": whether the run would fit with another batch, GPU or settings, and what would make it fit.
import { t } from '@vscode/l10n';
import type { ForecastAnswer, ShownForecast } from '../../../extension/protocol/requests/forecastRequests';
import { batchArgument } from '../../../extension/text/batchArgument';
import { formatBytes } from '../../../extension/text/format';
import { button, differs, el, icon, setAttributes, setHidden, setText, setTextOrHide } from '../../dom';
import { PolledPart, type PageActions, type PageContext } from '../state/part';
import { FitChoices } from './fitChoices';

/** While a forecast is made, it is requested so often. */
const INTERVAL_MS = 250;

/** A run of PyTorch that came to its end or to a step; what was recorded into a page for browsers has no engine. */
export function canFit({ info, session }: PageContext): boolean {
  const tensors = info.totals.some(({ layer, allocations }) => layer === 'tensor' && allocations > 0);
  const stepped = info.steps.some(({ source, count }) => source === 'optimizer' && count > 0);
  return tensors && (stepped || info.outOfMemoryCount > 0) && session.moments === undefined;
}

const isRecording = ({ session }: PageContext): boolean => session.phase === 'running' && session.recording;

export class FitPart extends PolledPart {
  readonly element: HTMLElement;
  private readonly choices = new FitChoices(() => {
    this.stopped = false;
    this.poller.invalidate(true);
  });
  private readonly best = el('p', { class: 'fit-best number', role: 'status', 'data-value': 'fit-best' });
  private readonly answer = el('p', { class: 'fit-answer number', role: 'status', 'data-value': 'fit-answer' });
  private readonly peak = el('p', { class: 'dim number', 'data-value': 'fit-parts' });
  private readonly memory = el('th', { scope: 'col' });
  private readonly progress = el('span', { role: 'status', 'data-value': 'fit-progress' });
  private readonly cancel = button('link', 'fit-cancel', t('Cancel'), () => this.stop());
  private readonly working = el('p', { class: 'fit-working dim' }, this.progress, ' ', this.cancel);
  private readonly ways = el('tbody', {});
  private readonly notes = el('ul', { class: 'fit-notes dim' });
  private readonly more: HTMLElement;
  private stopped = false;
  private recording = false;

  constructor(page: PageActions) {
    super(page, INTERVAL_MS, [], true);
    const [change, largest] = [t('Change'), t('Largest batch')].map(title => el('th', { scope: 'col' }, title));
    const table = { class: 'fit-ways number', 'aria-label': t('Ways to fit') };
    const ways = el('table', table, el('thead', {}, el('tr', {}, change!, this.memory, largest!)), this.ways);
    this.more = el('div', { class: 'fit-more' }, ways, this.notes);
    const body = el('div', { class: 'fit-body', tabindex: 0 }, this.best, this.answer, this.peak);
    body.append(this.working, this.more);
    this.element = el('div', { class: 'fit' }, this.choices.element, body);
    this.forget();
  }

  override update(context: PageContext): void {
    const recording = isRecording(context);
    if (recording !== this.recording) this.poller.invalidate(true);
    this.recording = recording;
    const { devices, processes } = context.info;
    this.choices.offer(Math.max(0, ...devices.map(({ totalBytes }) => totalBytes)), null);
    this.choices.propose(batchArgument(processes[0]?.command ?? []));
  }

  forget(): void {
    this.stopped = false;
    this.choices.forget();
    this.show({ working: false, sentence: '', forecast: null });
  }

  protected async load(): Promise<void> {
    const context = this.page.now();
    const { query } = this.choices;
    if (!context || this.stopped) return;
    if (!query) return this.show({ working: false, sentence: '', forecast: null });
    if (isRecording(context)) {
      const sentence = t('The forecast is made when the run ends or recording is paused.');
      return this.show({ working: false, sentence, forecast: null });
    }
    const answer = await this.page.request('forecast', query);
    if (!answer || this.stopped || this.page.now()?.session.id !== context.session.id) return;
    if (JSON.stringify(query) === JSON.stringify(this.choices.query)) this.show(answer);
    if (answer.working) this.poller.invalidate();
  }

  private stop(): void {
    this.stopped = true;
    void this.page.request('cancelForecast', undefined);
    this.show({ working: false, sentence: t('Stopped. Change a value to start again.'), forecast: null });
  }

  /** While another one is made, what was shown stays. */
  private show({ working, sentence, forecast }: ForecastAnswer): void {
    setHidden(this.working, !working);
    setText(this.progress, working ? sentence : '');
    if (working) return;
    this.page.dispatch({ type: 'forecastBytes', forecastBytes: forecast?.reservedBytes ?? null });
    setTextOrHide(this.best, forecast?.best ?? '');
    setTextOrHide(this.answer, sentence);
    setTextOrHide(this.peak, forecast?.parts ?? '');
    setAttributes(this.answer, { 'data-fits': forecast === null ? null : String(forecast.fits) });
    setHidden(this.more, forecast === null);
    if (forecast !== null) this.showForecast(forecast);
  }

  private showForecast(forecast: ShownForecast): void {
    const { devices } = this.page.now()?.info ?? { devices: [] };
    this.choices.offer(Math.max(0, ...devices.map(({ totalBytes }) => totalBytes)), forecast);
    const { ways, notes } = forecast;
    setText(this.memory, this.choices.memoryTitle);
    if (!differs(this.element, ways, notes)) return;
    this.ways.replaceChildren(...ways.map(wayRow));
    this.notes.replaceChildren(...notes.map(note => el('li', {}, note)));
  }
}

function wayRow({ change, peakBytes, fits, largest }: ShownForecast['ways'][number]): HTMLElement {
  const mark = icon(fits ? 'check' : 'close');
  const title = fits ? t('Fits') : t('Does not fit');
  setAttributes(mark, { 'aria-hidden': null, role: 'img', 'aria-label': title, title });
  const parts = change.split(/(?<=[:_])/).flatMap(part => [part, el('wbr')]); // a setting breaks before its value
  const cells = [el('td', {}, formatBytes(peakBytes), ' ', mark), el('td', {}, largest)];
  return el('tr', { 'data-fits': String(fits) }, el('th', { scope: 'row' }, ...parts), ...cells);
}
