// Brings the page to a moment: the host reads the trace up to it first, which may take a while and can be given up.
import { t } from '@vscode/l10n';
import { NOW } from '../../../extension/protocol/requests/moment';
import type { MomentReading, Peak, PeakQuery } from '../../../extension/protocol/requests/timelineRequests';
import { formatDuration } from '../../../extension/text/format';
import type { PageActions } from '../state/part';
import type { TitledMoment } from './span';

const POLL_MS = 120;
/** So that the allocation that made the peak is in it, however its time is rounded. */
const JUST_AFTER_NS = 100;

export class MomentReader {
  /** Rises with each request: an older one that is still under way ends. */
  private requestId = 0;

  /** @param onProgress what is being read; null when nothing is */
  constructor(
    private readonly page: Pick<PageActions, 'request' | 'dispatch'>,
    private readonly onProgress: (reading: MomentReading | null) => void,
    private readonly pause: (milliseconds: number) => Promise<void> = wait,
  ) {}

  /** Shows the rows of a moment once it is read. `waitMs`: unless another one is requested within so long. */
  async show(titled: TitledMoment, waitMs = 0): Promise<void> {
    const id = ++this.requestId;
    if (waitMs > 0) await this.pause(waitMs);
    if (id === this.requestId) await this.bring(titled, id);
  }

  /** Shows what was alive when the series was highest in a span. `where`: in which step a peak was; '' where none is known.
   * `lastNs`: no moment behind it is shown. */
  async showPeak(query: PeakQuery, where: (peak: Peak) => string, lastNs = Infinity): Promise<void> {
    const id = ++this.requestId;
    const peak = await this.findPeak(query, id);
    await this.bring(peak && aliveAtPeak(peak, where(peak), lastNs), id);
  }

  /** Back to the present; what is being read is given up. */
  reset(): void {
    this.cancel();
    this.page.dispatch({ type: 'moment', moment: NOW, title: '' });
  }

  cancel(): void {
    this.forget();
    void this.page.request('cancelMoments', undefined);
  }

  /** Nothing is waited for any more. */
  forget(): void {
    this.requestId++;
    this.onProgress(null);
  }

  /** The timeline of the whole run has only the approximate time of a peak. */
  private async findPeak(query: PeakQuery, id: number): Promise<Peak | null> {
    const peak = await this.page.request('peakInside', query);
    if (!peak || peak.bytes <= 0) return null;
    const { fromNs, toNs, bytes } = peak;
    const narrow = { ...query, fromNs, toNs, bytes };
    const reading = await this.poll(id, () => this.page.request('exactPeak', narrow));
    return reading?.peak ?? null;
  }

  /** Polls until it is done; null where it failed or something else is requested. */
  private async poll<T extends MomentReading>(id: number, read: () => Promise<T | undefined>): Promise<T | null> {
    for (;;) {
      const reading = id === this.requestId ? await read() : undefined;
      if (!reading || id !== this.requestId) return null;
      if (reading.done) return reading;
      this.onProgress(reading);
      await this.pause(POLL_MS);
    }
  }

  /** Reads and shows it, unless something else is requested meanwhile; null: there is nothing to show. */
  private async bring(target: TitledMoment | null, id: number): Promise<void> {
    const read = target && (await this.poll(id, () => this.page.request('readMoment', { moment: target.moment })));
    const bytes = read?.bytes;
    if (read) this.page.dispatch({ type: 'moment', ...target, ...(bytes !== undefined && { bytes }) });
    if (id === this.requestId) this.onProgress(null);
  }
}

/** Its bytes are in the header and on its card. */
function aliveAtPeak({ fromNs, toNs }: Peak, where: string, lastNs: number): TitledMoment {
  const at = where ? t('Live at the peak {0}', where) : t('Live at the peak');
  const timeNs = Math.min(Math.floor(toNs) + JUST_AFTER_NS, Math.floor(lastNs));
  const title = toNs > fromNs ? t('{0} (to within {1})', at, formatDuration(toNs - fromNs)) : at;
  return { moment: { kind: 'at', timeNs, peak: true }, title };
}

const wait = (milliseconds: number): Promise<void> => new Promise(done => setTimeout(done, milliseconds));
