// What fits, for a page without an engine.
import type { ForecastAnswer, ForecastQuery } from '../../extension/protocol/requests/forecastRequests';
import { formatBytes } from '../../extension/text/format';

const GIB = 2 ** 30;
/** Eight times the batch takes so long as the page polls. */
const LONG = 8;

export function forecast({ gpuBytes, batch, factor, expandable, checkpoint }: ForecastQuery): ForecastAnswer {
  if (factor === LONG) return { working: true, sentence: 'Replaying 812,345 allocations…', forecast: null };
  const roomBytes = gpuBytes ?? 24 * GIB;
  const reservedBytes = ((expandable ? 9 : 10) + (checkpoint === null ? 2 : 1)) * GIB * factor;
  const fits = reservedBytes + GIB <= roomBytes;
  const [needed, room] = [formatBytes(reservedBytes + GIB), formatBytes(roomBytes)];
  const tried = batch === null ? `${factor}× the recorded batch` : `Batch ${factor * batch}`;
  const changes = [
    factor === 1 ? 'as recorded' : 'no other change',
    'expandable_segments:True',
    'checkpoint model.layers.* (24 modules)',
  ];
  return {
    working: false,
    sentence: fits
      ? `${tried} fits: its peak is ${needed} of ${room}.`
      : `${tried} does not fit: it needs ${needed}, but only ${room} is available.`,
    forecast: {
      best: `Largest batch that fits into ${room}: ${batch === null ? '1.8× the recorded batch' : Math.floor(1.8 * batch)}`,
      parts: `PyTorch reserves ${formatBytes(reservedBytes)}, of which tensors take up to ${formatBytes(reservedBytes * 0.8)}. CUDA and libraries take 1 GiB more.`,
      ...{ fits, reservedBytes, modules: ['model.layers.*', 'head.*'], expandable: false },
      ways: [...changes, `${changes[1]} + ${changes[2]}`].map((change, at) => {
        const peakBytes = (13 - at) * GIB * factor;
        const times = (roomBytes / peakBytes) * factor;
        const largest = batch === null ? `${times.toFixed(1)}× the recorded batch` : String(Math.floor(times * batch));
        return { change, peakBytes, fits: peakBytes <= roomBytes, largest };
      }),
      notes: [
        'NVIDIA H200, 24 GiB: the CUDA context and libraries of this run take at least 1 GiB.',
        'Replay check: PyTorch’s reserved memory is exactly as recorded after each of 812,345 allocations.',
        'One run does not show what grows with the batch: everything except the model, its gradients and its optimizer is assumed to grow.',
      ],
    },
  };
}
