// Questions to the agent in a traced process: files in the trace directory (native/agent/README.md). Answers come
// with the trace.
import { readdirSync } from 'node:fs';
import type { Answer, ProcessInfo, TraceInfo } from '../../protocol/trace';
import { reasonOf } from './traceDirectory';
import { addFile, readBytes } from '../../files/files';
import { attempt } from '../../base/attempt';

/** A block whose holder is to be found; `lines` (innermost first) and `step` belong to its allocation. */
export interface QueriedBlock {
  address: bigint;
  bytes: number;
  device: number;
  lines: readonly { file: string; line: number }[];
  step?: number;
}
/** Which objects hold the blocks. */
export interface Question {
  blocks: readonly QueriedBlock[];
  /** How long the search may stop the program; absent: half a second. */
  budgetMs?: number;
  /** To be answered at the end of a training step: graphs rest there. There must be one to come. */
  atStep?: boolean;
}

/** How long a search may stop the program. */
const BUDGET_MS = 500;
/** A process without PyTorch has no agent; one that imports it just now gets it within this time. */
const WITHOUT_TORCH_MS = 4_000;
const PAUSE_MS = 50;
/** GMT_NOTE_AGENT of native/wire/layout.h: why there is no agent. */
const NOTE_AGENT = 9;

const ENDED = 'The program has ended, so it can no longer be queried.';

/** With what was `found` before, why a process cannot be queried now; that it has ended goes without saying. */
export function besideFound(found: string, refusal: string): string {
  return refusal === ENDED ? found : `${found} ${refusal}`;
}

/** One sentence on why a process of a trace cannot be queried; null: it can. `directory`: null where the trace is a file. */
export function refusalOf(info: TraceInfo, process: ProcessInfo | undefined, directory: string | null): string | null {
  if (process === undefined) return 'The trace has no such process.';
  if (process.driverSource === 'uprobe' || info.session.backend === 'uprobe') {
    return 'This program is traced from outside, so it cannot be queried. Start it with the tracer for that.';
  }
  if (directory === null || process.ended) return ENDED;
  const note = process.notes.find(entry => entry.code === NOTE_AGENT);
  if (note !== undefined) return `The program cannot be queried: ${note.text}`;
  if (process.python === null) return 'This process runs no Python.';
  return null;
}

/** Writes a question to a process, as a whole: it is seen, or not there yet. Gives its number. Throws the error of the system. */
export function writeQuestion(directory: string, pid: number, question: Question): number {
  const name = (number: number): string => `request-${number}.json`;
  const text = (number: number): string => JSON.stringify(document(number, pid, question));
  return addFile(directory, lastNumber(directory) + 1, name, text, { ofTrace: true });
}

function document(id: number, pid: number, question: Question): object {
  const addresses = question.blocks.map(({ address, bytes, device, lines, step }) => {
    const places = lines.map(({ file, line }) => [file, line]);
    return [`0x${address.toString(16)}`, bytes, device, places, ...(step === undefined ? [] : [step])];
  });
  const { budgetMs = BUDGET_MS, atStep } = question;
  return { id, pid, do: 'holders', addresses, budgetMs, ...(atStep && { at: 'step' }) };
}

function lastNumber(directory: string): number {
  const numbers = readdirSync(directory).map(name => Number(/^request-(\d+)\.json$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

export interface Reader {
  info(): TraceInfo;
  answer(query: { process: number; index: number }): Answer | null;
  /** Reads what was written; absent: it is read elsewhere. */
  settle?(): Promise<void>;
}
export interface Patience {
  /** Milliseconds. */
  limitMs: number;
  /** Waits no longer. */
  signal?: AbortSignal;
}
/** An answer, or one sentence on why there is none. */
export type QueryResult = { answer: Answer } | { sentence: string };

/** Sends a question to a process of a trace and waits for the answer. Never rejects. */
export async function queryProcess(
  trace: Reader,
  directory: string | null,
  process: number,
  question: Question,
  patience: Patience,
): Promise<QueryResult> {
  const info = trace.info();
  const facts = info.processes[process];
  const refusal = refusalOf(info, facts, directory);
  if (facts === undefined || directory === null || refusal !== null) return { sentence: refusal ?? '' };
  try {
    const trained = info.steps.some(entry => entry.process === process && entry.source === 'optimizer');
    // What the agent has answered already, or the libraries that it is for.
    const answered = info.answers.some(entry => entry.process === process);
    const torch = trained || answered || libraryIsMapped(facts.pid);
    const limitMs = torch ? patience.limitMs : Math.min(patience.limitMs, WITHOUT_TORCH_MS);
    const number = writeQuestion(directory, facts.pid, question);
    return await awaitAnswer(trace, process, number, { ...patience, limitMs }, torch);
  } catch (error) {
    return { sentence: `The program could not be queried: ${reasonOf(error)}.` };
  }
}

async function awaitAnswer(
  trace: Reader,
  process: number,
  number: number,
  { limitMs, signal }: Patience,
  torch: boolean,
): Promise<QueryResult> {
  const until = Date.now() + limitMs;
  for (;;) {
    if (signal?.aborted) return { sentence: 'The query was cancelled.' };
    await trace.settle?.();
    const { answers, processes } = trace.info();
    const found = answers.find(entry => entry.process === process && entry.request === number && entry.complete);
    const answer = found === undefined ? null : trace.answer({ process, index: found.index });
    if (answer !== null) return { answer };
    if (processes[process]?.ended) return { sentence: 'The program ended before it answered.' };
    if (Date.now() >= until) return { sentence: noAnswer(limitMs, torch) };
    await new Promise(done => setTimeout(done, PAUSE_MS));
  }
}

function noAnswer(limitMs: number, torch: boolean): string {
  if (!torch) return 'The program cannot answer: it has not imported PyTorch, JAX, CuPy, Numba or RMM.';
  const seconds = Math.round(limitMs / 1000);
  return `The program did not answer within ${seconds} seconds: it may be in one long call, such as waiting for the GPU. Try again later.`;
}

function libraryIsMapped(pid: number): boolean {
  const maps = attempt(() => readBytes(`/proc/${pid}/maps`).toString('utf8'), null);
  return maps === null || /\/(libtorch_python\.so|torch\/_C\.|jaxlib\/|cupy\/|numba\/|rmm\/)/.test(maps); // null, of another user: nothing is known
}
