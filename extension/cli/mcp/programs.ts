// The tools that pause or start a program, with the user's consent.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { detailsText } from '../../report/tables/blockDetails';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { holderText, shareOf } from '../../analysis/words';
import { joinWords } from '../../capture/launch/shellWords';
import { keptTracesFolder, keptTracesRoot } from '../../capture/traces/folders';
import { keptTraceFile, pruneKeptTraces } from '../../capture/traces/keptTraces';
import { refusalOf } from '../../capture/traces/requests';
import { attempt } from '../../base/attempt';
import { escapeForTerminal } from '../../text/escapeForTerminal';
import { address, codeLine } from '../arguments/holdersArguments';
import { holderAnswers, type HolderAnswer } from '../holders';
import { findingsOf } from './memory';
import { inputRequired, inputResponse } from './mcpSdk';
import { aboutOf, fitting, pick, type Call, type Handler } from './answer';
import { withMoment, withTrace, type Moment } from './traces';

const CLIENT = 'io.modelcontextprotocol/clientCapabilities';
const MOST_HOLDERS = 4;
const POLL_MS = 500;
/** From Ctrl+C to SIGKILL. */
const PATIENCE_MS = 5_000;
const DRAIN_MS = 1_000;
const USUAL_SECONDS = 300;
const TAIL = 400;

/** null: the user agreed, through the client; without such a client the agent confirms it. Throws a sentence where not. */
function consentOf({ server: { server }, context: { mcpReq } }: Call, question: string, agreed = false) {
  const response = inputResponse(mcpReq.inputResponses, 'go');
  if (response.kind === 'elicit' && response.action === 'accept') return null;
  if (response.kind === 'elicit') throw new Error('The user declined, so nothing was done.');
  const message = escapeForTerminal(question);
  const envelope = mcpReq.envelope as Record<string, { elicitation?: object }> | undefined;
  if ((envelope?.[CLIENT] ?? server.getClientCapabilities())?.elicitation !== undefined) {
    const requestedSchema = { type: 'object', properties: {} } as const;
    return inputRequired({ inputRequests: { go: inputRequired.elicit({ message, requestedSchema }) } });
  }
  if (agreed) return null;
  throw new Error(
    `${message} This client cannot show a prompt. Get the user's confirmation, then call again with confirmed: true.`,
  );
}

interface HoldersQuery {
  trace: string;
  line?: string;
  address?: string;
  confirmed?: boolean;
}

export const findHolders: Handler<HoldersQuery> = ({ trace, line, address: at, confirmed }, call) =>
  withTrace(trace, call.dist, async (opened, id) => {
    if (line && at) throw new Error('Give line or address, not both.');
    const info = opened.session.info();
    const alive = opened.processes
      .flatMap(index => info.processes[index] ?? [])
      .filter(process => refusalOf(info, process, opened.directory) === null);
    const names = alive.map(({ pid, command }) => `${pid} (${joinWords(command)})`).join(', ');
    const question = `Pause process ${names} for 0.1–0.5 s to find out what holds its GPU memory?`;
    const wait = alive.length === 0 ? null : consentOf(call, question, confirmed);
    if (wait !== null) return wait;
    const subject = { line: line ? codeLine(line, 'line') : null, address: at ? address(at, 'address') : null };
    const answers = await holderAnswers(subject, opened);
    if ('error' in answers) throw new Error(answers.error);
    const about = aboutOf(id, opened, verdictsOf(opened.session));
    return { ...about, questions: fitting(answers.map(answerFields), about), total: answers.length };
  });

function answerFields({ holders, details, ...rest }: HolderAnswer): object {
  const found = holders.slice(0, MOST_HOLDERS).map(holder => ({
    ...{ says: holderText(holder), share: shareOf(holder) },
    ...pick(holder, 'kind', 'file', 'line', 'count', 'bytes'),
  }));
  return { ...rest, holders: found, details: details.blocks > 0 ? detailsText(details) : undefined };
}

interface Run {
  command: string[];
  cwd?: string;
  timeout_s?: number;
  max_steps?: number;
  confirmed?: boolean;
}

/** What runs for a client; the server waits for its end. */
export const running = new Set<Promise<unknown>>();

export const runTraced: Handler<Run> = async ({ command, cwd = process.cwd(), ...given }, call) => {
  if (!existsSync(cwd)) throw new Error(`cwd ${cwd} does not exist: give an existing folder.`);
  const wait = consentOf(call, `Run ${joinWords(command)} in ${cwd} with the tracer?`, given.confirmed);
  if (wait !== null) return wait;
  await Promise.allSettled(running); // one after the other
  call.context.mcpReq.signal.throwIfAborted();
  const trace = keptTraceFile(keptTracesFolder(process.env, resolve(cwd)), command, new Date());
  const most = given.max_steps === undefined ? [] : ['--max-steps', String(given.max_steps)];
  const words = [join(call.dist, 'cli.js'), 'run', '--format', 'none', '-o', trace, ...most, '--', ...command];
  const run = follow(words, cwd, given.timeout_s ?? USUAL_SECONDS, call);
  running.add(run);
  const ran = await run.finally(() => running.delete(run));
  pruneKeptTraces(keptTracesRoot(process.env));
  if (existsSync(trace)) {
    const factsOf = (seen: Moment): object => {
      const { steps } = seen.verdicts;
      const ended = steps.count >= (given.max_steps ?? Infinity);
      const interrupted = ran.interrupted ?? (ended ? `${steps.count} training steps have ended (max_steps).` : null);
      const about = { ...seen.about, ...ran, steps, interrupted };
      return findingsOf({ ...seen, about });
    };
    return withMoment({ trace }, call.dist, factsOf);
  }
  const unknown = ['There is no trace: the program did not start, allocated no GPU memory, or was killed. See output.'];
  return { trace: null, unknown, findings: [], ...ran };
};

/** Runs our own command line in a group of its own, which gets the signals. */
async function follow(words: string[], cwd: string, seconds: number, { context: { mcpReq } }: Call) {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
  const child = spawn(process.execPath, words, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, interrupted] = ['', null as string | null];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-TAIL)));
  let last: NodeJS.Timeout | undefined;
  // Nothing happens where all of it has ended.
  const kill = (signal: NodeJS.Signals): boolean => attempt(() => process.kill(-child.pid!, signal), false);
  const stop = (why: string): void => {
    if (interrupted === null) kill('SIGINT');
    interrupted ??= why;
    last ??= setTimeout(kill, PATIENCE_MS, 'SIGKILL');
  };
  mcpReq.signal.addEventListener('abort', () => stop('The call was cancelled.'));
  const began = performance.now();
  const polling = setInterval(() => {
    const progress = Math.round((performance.now() - began) / 100) / 10;
    if (progress >= seconds) stop(`It ran for ${seconds} s (timeout_s).`);
    const [progressToken, message] = [mcpReq._meta?.progressToken, `runs for ${progress} s`];
    if (progressToken === undefined) return;
    const params = { progressToken, progress, message };
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined); // the client is gone
  }, POLL_MS);
  const exitStatus = await new Promise<number>(done => {
    child.once('close', code => done(code ?? 1)).once('error', () => done(1));
    child.once('exit', code => setTimeout(done, DRAIN_MS, code ?? 1)); // processes that hold its output open are not waited for
  });
  clearInterval(polling);
  clearTimeout(last);
  return { exitStatus, interrupted, output };
}
