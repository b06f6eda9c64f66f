// What is changed of the run: the controls of the tab, and the query that they make.
import { t } from '@vscode/l10n';
import {
  MOST_FACTOR,
  type ForecastQuery,
  type ShownForecast,
} from '../../../extension/protocol/requests/forecastRequests';
import { moduleText } from '../../../extension/text/moduleText';
import { formatBytes, formatCount } from '../../../extension/text/format';
import { dropdown, openBelow } from '../../components';
import { el, setAttribute, setAttributes, setHidden, setTextOrHide } from '../../dom';

const GIB = 2 ** 30;
const GPUS_GIB = [24, 40, 48, 80, 141, 192];
const OWN = 'own';
const OTHER = 'other';
const NONE = '';
/** What the slider reaches, of the recorded batch; the field reaches further. */
const SLIDER_TIMES = 8;
/** Where the recorded batch is not known, parts of it are tried. */
const PART = 0.25;

export class FitChoices {
  readonly element: HTMLElement;
  private gpu = OWN;
  private checkpoint = NONE;
  private proposed = false;
  /** What is tried, as a multiple of the recorded batch; null: what is typed is no batch. */
  private factor: number | null = 1;
  private readonly gpus = dropdown<string>('fit-gpu', t('GPU memory'), [], gpu => {
    this.gpu = gpu;
    this.changed();
  });
  private readonly modules = dropdown<string>('fit-checkpoint', t('Checkpointed modules'), [], checkpoint => {
    this.checkpoint = checkpoint;
    this.changed();
  });
  private readonly gib = this.input('fit-gib', {
    type: 'number',
    min: 1,
    placeholder: t('GiB'),
    'aria-label': t('GPU memory in GiB'),
  });
  private readonly batch = this.input('fit-batch', { type: 'number', min: 1, placeholder: '?' });
  private readonly slider = this.input('fit-factor', { type: 'range' }, value => this.attempt(value));
  private readonly tried = this.input('fit-tried', { type: 'number' }, value => this.attempt(value));
  private readonly unit = el('span', {}, t('× the recorded batch'));
  private readonly problem = el('p', { class: 'fit-problem', id: 'fit-problem', role: 'alert' });
  private readonly expandable = this.input('fit-expandable', { type: 'checkbox' });
  private readonly setting = el('label', {}, this.expandable, t('Expandable segments'));

  /** @param onChange another query is made */
  constructor(private readonly onChange: () => void) {
    this.setting.title = 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True';
    openBelow(this.gpus, this.modules);
    const batch = el('label', {}, t('Recorded batch'), this.batch);
    for (const input of [this.slider, this.tried]) input.setAttribute('aria-label', t('Batch to try'));
    this.tried.setAttribute('aria-describedby', this.problem.id);
    const typed = el('label', {}, this.tried, this.unit);
    const trial = el('div', { class: 'fit-trial' }, t('Batch to try'), this.slider, typed);
    const settings = [batch, this.gpus.element, this.gib, this.modules.element, this.setting];
    const controls = el('div', { class: 'controls' }, ...settings);
    this.element = el('div', { class: 'toolbar' }, controls, trial, this.problem);
    this.forget();
  }

  /** null: a size is not typed yet, or no batch. */
  get query(): ForecastQuery | null {
    const { factor } = this;
    const gib = this.gpu === OTHER ? Number(this.gib.value) : Number(this.gpu);
    if ((this.gpu === OTHER && !(gib > 0)) || factor === null) return null;
    return {
      gpuBytes: this.gpu === OWN ? null : gib * GIB,
      batch: this.recorded,
      factor,
      expandable: this.expandable.checked,
      checkpoint: this.checkpoint === NONE ? null : this.checkpoint,
    };
  }

  /** Of what the memory is: the batch that is tried. */
  get memoryTitle(): string {
    const { recorded, factor } = this;
    const tried = factor ?? 1;
    if (recorded !== null) return t('With batch {0}', formatCount(tried * recorded));
    return tried === 1 ? t('With the recorded batch') : t('With {0}× the recorded batch', tried);
  }

  /** What there is to choose. `ownBytes`: of the run's GPU. */
  offer(ownBytes: number, forecast: ShownForecast | null): void {
    const own = ownBytes > 0 ? t('This GPU, {0}', formatBytes(ownBytes)) : t('This GPU');
    const sizes = GPUS_GIB.map(gib => [String(gib), t('{0} GiB', gib)] as const);
    this.gpus.offer([[OWN, own], ...sizes, [OTHER, t('Other size…')]], this.gpu);
    if (forecast === null) return;
    const modules = forecast.modules.map(pattern => [pattern, t('Checkpoint {0}', moduleText(pattern, t))] as const);
    this.modules.offer([[NONE, t('No checkpointing')], ...modules], this.checkpoint);
    setHidden(this.modules.element, modules.length === 0);
    setHidden(this.setting, forecast.expandable);
  }

  /** The batch that the run was started with; what is typed stays. */
  propose(batch: number | null): void {
    if (this.proposed || batch === null) return;
    this.proposed = true;
    if (this.batch.value !== '') return;
    this.batch.value = String(batch);
    this.draw();
  }

  forget(): void {
    this.proposed = false;
    [this.gpu, this.checkpoint, this.batch.value, this.gib.value] = [OWN, NONE, '', ''];
    this.factor = 1;
    this.expandable.checked = false;
    setHidden(this.modules.element, true);
    this.draw();
  }

  /** null: not given. */
  private get recorded(): number | null {
    const batch = Math.round(Number(this.batch.value));
    return batch > 0 ? batch : null;
  }

  /** What can be tried; a batch is a whole number. */
  private get range(): { least: number; most: number } {
    return { least: this.recorded === null ? PART : 1, most: MOST_FACTOR * (this.recorded ?? 1) };
  }

  /** A batch that is typed or slid to. */
  private attempt(value: string): void {
    const { least, most } = this.range;
    const tried = Number(value);
    const isOne = tried >= least && tried <= most && (this.recorded === null || Number.isInteger(tried));
    this.factor = isOne ? tried / (this.recorded ?? 1) : null;
  }

  private input(
    name: string,
    attributes: Record<string, string | number>,
    take?: (value: string) => void,
  ): HTMLInputElement {
    const element = el('input', { 'data-control': name, ...attributes });
    element.addEventListener('input', () => {
      take?.(element.value);
      this.changed();
    });
    return element;
  }

  private changed(): void {
    this.draw();
    this.onChange();
  }

  private draw(): void {
    const { recorded } = this;
    const { least, most } = this.range;
    this.drawProblem();
    setHidden(this.gib, this.gpu !== OTHER);
    setHidden(this.unit, recorded !== null);
    setAttributes(this.tried, { min: least, max: most, step: least });
    if (this.factor === null) return;
    // Of another recorded batch, the same part of it.
    const tried = recorded === null ? this.factor : Math.max(1, Math.round(this.factor * recorded));
    this.factor = tried / (recorded ?? 1);
    const last = Math.max(SLIDER_TIMES * (recorded ?? 1), tried);
    const words = recorded === null ? t('{0}×', tried) : t('batch {0}', tried);
    setAttributes(this.slider, { min: least, max: last, step: least, 'aria-valuetext': words });
    for (const input of [this.slider, this.tried]) if (Number(input.value) !== tried) input.value = String(tried);
  }

  private drawProblem(): void {
    const { least, most } = this.range;
    const whole = t('Type a whole number from {0} to {1}.', formatCount(least), formatCount(most));
    const part = t('Type a number from {0} to {1}.', least, formatCount(most));
    setTextOrHide(this.problem, this.factor !== null ? '' : this.recorded === null ? part : whole);
    setAttribute(this.tried, 'aria-invalid', String(this.factor === null));
  }
}
