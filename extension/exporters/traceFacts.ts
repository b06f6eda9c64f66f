import { isWarning } from '../protocol/notes';
import { formatPlural, lossTexts } from '../text/format';
import { rankOf } from '../protocol/rank';
import type { TraceInfo } from '../protocol/trace';
import type { Selection } from './exportInput';

/** What every export holds about itself: where it comes from and what is missing in it. */
export type TraceFacts = ReturnType<typeof traceFacts>;

export function traceFacts(info: TraceInfo, selection: Selection) {
  const { command, simulated } = info.session;
  const warnings = info.processes.flatMap(process => process.notes.filter(isWarning).map(note => note.text));
  const { fromNs, untilNs } = selection;
  return {
    exporter: 'GPU Memory Trace',
    command: Array.isArray(command) ? command.map(String) : (info.processes[0]?.command ?? []),
    startedAt: new Date(info.startRealtimeMs).toISOString(),
    durationSeconds: info.durationNs / 1e9,
    // Addresses and sizes are the program's, no memory stood behind them.
    simulated: simulated === true || info.processes.some(process => process.simulated),
    lost: info.lost,
    // What the tracer noted as missing.
    notes: [...new Set(warnings)],
    processes: info.processes.map(process => {
      const { run, rank, host } = rankOf(process);
      return { pid: process.pid, command: process.command, run, rank, host };
    }),
    devices: info.devices,
    selection: {
      ...(untilNs === null ? {} : { atSeconds: untilNs / 1e9 }),
      ...(fromNs === null ? {} : { fromSeconds: fromNs / 1e9 }),
    },
  };
}

/** The same in sentences, for formats whose metadata is text. */
export function factLines(facts: TraceFacts): string[] {
  const { atSeconds, fromSeconds } = facts.selection;
  const lines = [`${facts.exporter}: ${facts.command.join(' ')}, started ${facts.startedAt}`];
  if (facts.simulated) lines.push('The GPU was simulated.');
  const lost = lossLine(facts.lost);
  if (lost !== null) lines.push(lost);
  lines.push(...facts.notes);
  if (fromSeconds !== undefined) lines.push(`Only memory allocated after ${fromSeconds} s and still alive at the end.`);
  if (atSeconds !== undefined) lines.push(`The state at ${atSeconds} s.`);
  return lines;
}

/** One sentence on what was lost, null where nothing was. */
export function lossLine({ events, byCause }: TraceInfo['lost']): string | null {
  const causes = lossTexts({ byCause });
  if (causes.length === 0) return null;
  if (events === 0) return `No events were dropped, but some details are missing: ${causes.join(', ')}.`;
  return `${formatPlural(events, 'event')} dropped (${causes.join(', ')}); totals may be wrong.`;
}
