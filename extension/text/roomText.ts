import { formatBytes, type Translate } from './format';
import type { OutOfMemoryAdvice, OutOfMemoryVerdict } from '../protocol/verdicts';

type Room = Pick<OutOfMemoryVerdict, 'limitBytes' | 'inUseBytes' | 'missingBytes' | 'reservedBytes'>;

/** Of a failed allocation: `limit 192 MiB`, `in use 172.03 MiB`, `short by 44.03 MiB`; how much was free may not be known. Empty: no limit is. */
export function roomTexts(room: Room, t: Translate): string[] {
  const { limitBytes, inUseBytes, missingBytes, reservedBytes } = room;
  if (limitBytes === null || inUseBytes === null || missingBytes === null) return [];
  const [limit, inUse] = [formatBytes(limitBytes), t('in use {0}', formatBytes(inUseBytes))];
  return limitBytes === reservedBytes
    ? [t('reserved {0}', limit), inUse, t('free memory unknown')]
    : [t('limit {0}', limit), inUse, t('short by {0}', formatBytes(missingBytes))];
}

/** What to try, with where a forecast is: on the page a tab, in what a terminal writes a command. */
export function withForecast({ forecast, text }: OutOfMemoryAdvice, face: 'page' | 'terminal', t: Translate): string {
  if (forecast !== true) return text;
  return face === 'page'
    ? t('{0} The tab Fit forecasts what fits.', text)
    : t('{0} `gpu-memtrace fit` forecasts what fits.', text);
}

/** `saves about 8 MiB`, and how much is missing where that is more. */
export function savesText({ kind, bytes, atMost, atLeast }: OutOfMemoryAdvice, room: Room, t: Translate): string {
  const size = formatBytes(bytes);
  const saved =
    atMost === true ? t('up to {0}', size) : atLeast === true ? t('at least {0}', size) : t('about {0}', size);
  const missing = bytes < (room.missingBytes ?? 0) ? missingText(room, t) : null;
  // A higher limit saves nothing.
  if (kind === 'limit')
    return missing === null
      ? t('makes {0} available', saved)
      : t('makes only {0} available; {1} are needed', saved, missing);
  return missing === null ? t('saves {0}', saved) : t('saves only {0}; {1} must be freed', saved, missing);
}

/** What is free besides the reserved memory is none, or not known. */
function missingText({ limitBytes, reservedBytes, missingBytes }: Room, t: Translate): string {
  const size = formatBytes(missingBytes ?? 0);
  return limitBytes === reservedBytes ? t('up to {0}', size) : size;
}
