import { applyOptions, Usage, type Options } from './optionReader';

/** Nobody means fewer bytes than that: the unit was left out. */
const LEAST_BYTES = 64 << 10;

/** What a run that starts asleep waits for; nothing: for a person. */
export interface StartConditions {
  /** The end of this training step, of whichever process comes so far first. */
  step?: number;
  /** A GPU's cache holds so many bytes. */
  reservedBytes?: number;
}
export interface RecordArguments {
  verb: 'record';
  /** A process that is traced, or the directory of a trace that is recorded. */
  target: string;
  on: boolean;
}

/** `step:1000`. Throws `Usage`. */
export function startStep(options: Options): StartConditions {
  const text = options.value();
  const step = Number(/^step:([1-9]\d{0,14})$/.exec(text)?.[1]);
  if (Number.isNaN(step)) throw new Usage(`--start-at ${text} is not a training step, such as step:1000.`);
  return { step };
}

/** `reserved>70GB`. Throws `Usage`. */
export function startCondition(options: Options): StartConditions {
  const text = options.value();
  const size = /^reserved\s*>\s*(.*)$/i.exec(text)?.[1] ?? '';
  if (/^\d+(?:\.\d+)?$/.test(size))
    throw new Usage(`--start-when ${text} needs a unit, such as "reserved>${size}GiB" (in quotes).`);
  const bytes = bytesOf(size);
  if (bytes === null)
    throw new Usage(
      `--start-when ${text} is not a size of PyTorch’s reserved memory, such as "reserved>70GiB" (in quotes).`,
    );
  return { reservedBytes: bytes + 1 };
}

/** `512MB`, `2GB`, `1000000`. Throws `Usage`. */
export function size(options: Options, name: string): number {
  const text = options.value();
  const bytes = bytesOf(text);
  if (bytes !== null && bytes > 0 && bytes < LEAST_BYTES && /^\d+$/.test(text))
    throw new Usage(`${name} ${text} needs a unit, such as ${text}GiB.`);
  if (bytes === null || bytes === 0) throw new Usage(`${name} ${text} is not a size, such as 512MiB.`);
  return bytes;
}

function bytesOf(text: string): number | null {
  const [, number, unit = 'B'] = /^(\d{1,12}(?:\.\d+)?)\s*(?:([KMGT])i?B|B)?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * 1024 ** 'BKMGT'.indexOf(unit.toUpperCase()));
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** What stands behind `record`. Throws `Usage`, `HelpRequested`. */
export function parseRecord(words: readonly string[]): RecordArguments {
  const [target, word, ...more] = applyOptions({ verb: 'record' }, words);
  if (target === undefined || (word !== 'on' && word !== 'off') || more.length > 0)
    throw new Usage('Give a process, and on or off: gpu-memtrace record PID|FOLDER on, such as record 4711 on');
  return { verb: 'record', target, on: word === 'on' };
}
