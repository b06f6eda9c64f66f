import { commandText } from '../../capture/checks/attachTarget';
import { isSnapshot } from '../../protocol/notes';
import type { TraceInfo } from '../../protocol/trace';
import { commandOf } from '../../report/documents/reportDocument';
import { fitEnd } from '../../report/tables/fit';
import { deviceName, formatDuration, formatTimestamp } from '../../text/format';

/** Of a line that goes to a file or a pipe. */
const USUAL_WIDTH = 160;

/** Which trace a report is of: the file and what was recorded, then when, for how long and on which GPUs. */
export function headLines(file: string, info: TraceInfo, width: number | null): string[] {
  const program = info.processes.some(isSnapshot) ? 'PyTorch memory snapshot' : commandText(commandOf(info));
  const facts = [
    info.startRealtimeMs > 0 ? ` ${formatTimestamp(new Date(info.startRealtimeMs))}` : '',
    info.durationNs > 0 ? ` for ${formatDuration(info.durationNs)}` : '',
    gpuText(info),
  ].join('');
  const lines = [program === '' ? file : `${file}: ${program}`, ...(facts === '' ? [] : [`Recorded${facts}`])];
  return lines.map(line => fitEnd(line, width ?? USUAL_WIDTH));
}

/** ` on gpu_0, gpu_1 (NVIDIA H200)`; empty where none was used. */
function gpuText({ devices, totals }: TraceInfo): string {
  const used = devices.filter(({ index }) => totals.some(({ device }) => device === index));
  const texts = [...new Set(used.map(({ name }) => name))].map(name => {
    const same = used.filter(device => device.name === name).map(({ index }) => deviceName(index, 'driver'));
    return name === '' ? same.join(', ') : `${same.join(', ')} (${name})`;
  });
  return texts.length === 0 ? '' : ` on ${texts.join(', ')}`;
}
