// A stand-in for the privileged tracer: speaks its contract as a test tells it to.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** What it does, one after the other. */
export type Step =
  | { say: object }
  | { raw: string }
  | { complain: string }
  /** Copies a file into the trace directory. */
  | { log: string }
  /** Makes an empty file, so that a test knows that it came so far. */
  | { mark: string }
  /** Goes on when asked to detach. */
  | 'detach'
  /** Goes on when the traced process is gone. */
  | 'end'
  /** Stops the traced process's first child, as the tracer does where a child loads a library. */
  | 'stop child'
  /** Never goes on; only SIGKILL helps. */
  | 'hang'
  | { exit: number }
  | { signal: string };

/** Runs below node; writes its arguments and its session beside itself. */
const SCRIPT = `
const fs = require('node:fs');
const path = require('node:path');
const words = process.argv.slice(2);
const valueOf = name => words[words.indexOf(name) + 1];
const said = fs.readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
fs.writeFileSync(__filename + '.seen', JSON.stringify({ words, pid: process.pid, session: Number(said[3]) }));
let detach;
const detached = new Promise(done => (detach = done));
process.stdin.on('end', detach).resume();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, detach);
const alive = () => { try { process.kill(Number(valueOf('--pid')), 0); return true; } catch { return false; } };
const wordsOf = pid => { try { return fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8'); } catch { return ''; } };
// Only one that runs its program by now: its maker waits for that, and could not see to a child that stops before.
const child = async () => {
  const parent = valueOf('--pid');
  const runs = pid => ![wordsOf(parent), ''].includes(wordsOf(pid));
  for (;;) {
    const ids = fs.readFileSync('/proc/' + parent + '/task/' + parent + '/children', 'utf8').split(' ').map(Number);
    const found = ids.find(pid => pid > 0 && pid !== process.pid && runs(pid));
    if (found) return found;
    await pause(5);
  }
};
const pause = ms => new Promise(done => setTimeout(done, ms));
(async () => {
  for (const step of STEPS) {
    if (step === 'detach') await detached;
    else if (step === 'end') while (alive()) await pause(20);
    else if (step === 'stop child') process.kill(await child(), 'SIGSTOP');
    else if (step === 'hang') await pause(600000);
    else if (step.say) fs.writeSync(1, JSON.stringify(step.say) + '\\n');
    else if (step.raw) fs.writeSync(1, step.raw);
    else if (step.complain) fs.writeSync(2, step.complain);
    else if (step.mark) fs.writeFileSync(step.mark, '');
    else if (step.log) fs.copyFileSync(step.log, path.join(valueOf('--directory'), path.basename(step.log)));
    else if (step.signal) { process.kill(process.pid, step.signal); await pause(1000); }
    else if (step.exit !== undefined) process.exit(step.exit);
  }
  process.exit(0);
})();
`;

export interface Seen {
  words: string[];
  pid: number;
  session: number;
}

/** Writes the program; what it saw lies in `<file>.seen` afterwards. */
export function writeFakeTracer(file: string, steps: Step[]): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!${process.execPath}\n${SCRIPT.replace('STEPS', () => JSON.stringify(steps))}`);
  chmodSync(file, 0o755);
  return file;
}

export const READY = { say: { type: 'ready', how: 'uprobe_multi', probes: 40, libraries: ['/lib/libcuda.so.1'] } };
export const ended = (events: number, lost: number): Step => ({ say: { type: 'ended', events, lost } });
export const refusal = (code: string, message: string): Step[] => [
  { say: { type: 'error', code, message } },
  { exit: 2 },
];
