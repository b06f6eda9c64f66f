// What is changed of the run: the controls of the tab, and the query that they make.
import { t } from '@vscode/l10n';
import type { ForecastQuery, ShownForecast } from '../../../extension/protocol/requests/forecastRequests';
import { formatBytes } from '../../../extension/text/format';
import { dropdown, openBelow } from '../../components';
import { el, setAttribute, setHidden, setText } from '../../dom';

const GIB = 2 ** 30;
const GPUS_GIB = [24, 40, 48, 80, 141, 192];
const OWN = 'own';
const OTHER = 'other';
const NONE = '';
/** Of the recorded batch. */
const FACTORS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
const RECORDED = FACTORS.indexOf(1);

export class FitChoices {
  readonly element: HTMLElement;
  private gpu = OWN;
  private checkpoint = NONE;
  private readonly gpus = dropdown<string>('fit-gpu', t('GPU memory'), [], gpu => {
    this.gpu = gpu;
    this.changed();
  });
  private readonly modules = dropdown<string>('fit-checkpoint', t('Checkpointed modules'), [], checkpoint => {
    this.checkpoint = checkpoint;
    this.changed();
  });
  private readonly gib = this.input('fit-gib', { type: 'number', min: 1, 'aria-label': t('GPU memory in GiB') });
  private readonly batch = this.input('fit-batch', { type: 'number', min: 1, placeholder: '1×' });
  private readonly slider = this.input('fit-factor', { type: 'range', min: 0, max: FACTORS.length - 1, step: 1 });
  private readonly tried = el('output', { class: 'number', 'data-value': 'fit-batch' });
  private readonly expandable = this.input('fit-expandable', { type: 'checkbox' });
  private readonly setting = el('label', {}, this.expandable, t('Expandable segments'));

  /** @param onChange another query is made */
  constructor(private readonly onChange: () => void) {
    this.setting.title = 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True';
    openBelow(this.gpus, this.modules);
    const batch = el('label', {}, t('Recorded batch'), this.batch);
    const slider = el('label', { class: 'fit-slider' }, t('Batch to try'), this.slider, this.tried);
    const settings = [this.gpus.element, this.gib, batch, this.modules.element, this.setting];
    this.element = el('div', { class: 'toolbar' }, el('div', { class: 'controls' }, ...settings), slider);
    this.forget();
  }

  /** null: a size is not typed yet. */
  get query(): ForecastQuery | null {
    const gib = this.gpu === OTHER ? Number(this.gib.value) : Number(this.gpu);
    if (this.gpu === OTHER && !(gib > 0)) return null;
    return {
      gpuBytes: this.gpu === OWN ? null : gib * GIB,
      batch: this.recorded,
      factor: this.factor,
      expandable: this.expandable.checked,
      checkpoint: this.checkpoint === NONE ? null : this.checkpoint,
    };
  }

  /** What there is to choose. `ownBytes`: of the run's GPU. */
  offer(ownBytes: number, forecast: ShownForecast | null): void {
    const own = ownBytes > 0 ? t('This GPU, {0}', formatBytes(ownBytes)) : t('This GPU');
    const sizes = GPUS_GIB.map(gib => [String(gib), t('{0} GiB', gib)] as const);
    this.gpus.offer([[OWN, own], ...sizes, [OTHER, t('Other size…')]], this.gpu);
    if (forecast === null) return;
    const modules = forecast.modules.map(pattern => [pattern, t('Checkpoint {0}', pattern)] as const);
    this.modules.offer([[NONE, t('No checkpointing')], ...modules], this.checkpoint);
    setHidden(this.modules.element, modules.length === 0);
    setHidden(this.setting, forecast.expandable);
  }

  forget(): void {
    [this.gpu, this.checkpoint, this.batch.value, this.gib.value] = [OWN, NONE, '', ''];
    this.slider.value = String(RECORDED);
    this.expandable.checked = false;
    setHidden(this.modules.element, true);
    this.draw();
  }

  /** null: not given. */
  private get recorded(): number | null {
    const batch = Math.round(Number(this.batch.value));
    return batch > 0 ? batch : null;
  }

  /** A batch is a whole number. */
  private get factor(): number {
    const factor = FACTORS[Number(this.slider.value)] ?? 1;
    return this.recorded === null ? factor : Math.max(1, Math.round(factor * this.recorded)) / this.recorded;
  }

  private input(name: string, attributes: Record<string, string | number>): HTMLInputElement {
    const element = el('input', { 'data-control': name, ...attributes });
    element.addEventListener('input', () => this.changed());
    return element;
  }

  private changed(): void {
    this.draw();
    this.onChange();
  }

  private draw(): void {
    const { recorded, factor } = this;
    const words = recorded === null ? t('{0}×', factor) : t('batch {0}', Math.round(factor * recorded));
    setText(this.tried, words);
    setAttribute(this.slider, 'aria-valuetext', words);
    setHidden(this.gib, this.gpu !== OTHER);
  }
}
