// What keeps the tracer from a process, in words.
import { basename, join } from 'node:path';
import { joinWords } from '../launch/shellWords';
import { tracerProgram } from '../launch/tracer';
import type { TracerProblem } from '../launch/tracerProtocol';
import { listCudaProcesses, type ProcessFacts, readProcess } from '../processes/processes';
import { type Advice, privilegeAdvice, readSurroundings, sudoLine, WITHOUT } from './privileges';

const SHOWN_COMMAND = 60;

/** The words that start the command line of this product with the Node.js that runs now. */
export function commandLine(dist: string): string[] {
  const words = [process.execPath, join(dist, 'cli.js')];
  return process.versions.electron === undefined ? words : ['env', 'ELECTRON_RUN_AS_NODE=1', ...words];
}

/** The process, ready to be attached to; else why it is not. `sudoWords`: the command that attaches to it as root. */
export async function checkTarget(
  pid: number,
  sudoWords: readonly string[],
  proc = '/proc',
  uid = process.getuid?.() ?? 0,
): Promise<ProcessFacts | Advice> {
  const facts = await readProcess(pid, proc);
  const refuse = (sentence: string): Advice => ({ sentence, command: null });
  if (facts === null) return refuse(`There is no process ${pid}.`);
  const named = processName(facts);
  if (facts.owner !== pid) return refuse(`${pid} is a thread of process ${facts.owner}: attach to ${facts.owner}.`);
  if (facts.ended) return refuse(`${named} has ended.`);
  if (uid !== 0 && facts.uid !== uid) {
    const sentence = `${named} belongs to ${facts.user}; only ${facts.user} or root can attach to it:`;
    return { sentence, command: sudoLine(sudoWords) };
  }
  if (facts.drivers === null) {
    if (uid === 0) return refuse(`${named} cannot be inspected.`);
    return { sentence: `${named} can be inspected only by root:`, command: sudoLine(sudoWords) };
  }
  if (facts.drivers.length === 0) return refuse(await withoutDriver(facts, proc));
  return facts;
}

async function withoutDriver(facts: ProcessFacts, proc: string): Promise<string> {
  const named = processName(facts);
  const children = (await listCudaProcesses(proc)).found.filter(({ parentPid }) => parentPid === facts.pid);
  const [first, ...more] = children.map(({ pid }) => pid);
  if (first === undefined) {
    return `${named} has not loaded the CUDA driver (libcuda.so): attach after its first CUDA call.`;
  }
  const others = more.length === 0 ? 'its child process' : 'its child processes';
  return `${named} has not loaded the CUDA driver (libcuda.so), but ${others} ${[first, ...more].join(', ')} did. Attach to ${more.length === 0 ? 'it' : 'one of these'}.`;
}

/** `Process 123 (python train.py)` */
export function processName({ pid, command }: Pick<ProcessFacts, 'pid' | 'command'>): string {
  const words = commandText(command);
  return `Process ${pid} (${words.length > SHOWN_COMMAND ? `${words.slice(0, SHOWN_COMMAND - 1)}…` : words})`;
}

/** `python train.py`: of full paths the last part stands for all. */
export function commandText(command: readonly string[]): string {
  return joinWords(command.map(word => (word.startsWith('/') ? basename(word) : word)));
}

/** What the tracer's refusal means for a user. */
export function explain(problem: TracerProblem, dist: string, sudoWords: readonly string[]): Advice {
  const { code, message } = problem;
  if (code === 'no-privilege') {
    const program = tracerProgram(dist);
    return privilegeAdvice(program, sudoWords, readSurroundings(program));
  }
  const kernelLacks = code === 'no-bpf' || code === 'no-btf';
  return { sentence: kernelLacks ? `${message.replace(/\.$/, '')}; ${WITHOUT}.` : message, command: null };
}
