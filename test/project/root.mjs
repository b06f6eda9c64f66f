// Where the project lies, and how its scripts run programs. Only node: modules: this is loaded before `npm ci`.
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));
export const inRoot = (...parts) => join(root, ...parts);
/** In the user's cache: what all checkouts share. */
export const inCache = (...parts) =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gpu-memory-trace', ...parts);

/** The full path of a program on PATH, or null. */
export function which(program) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // not in this folder
    }
  }
  return null;
}

/** What keeps the printed output: see progress.mjs. */
const keeper = new AsyncLocalStorage();
/** While `work` runs, what `log` and `run` would print goes to `to.write(text)`; `to.note(text)` also gets the output of quiet programs. */
export const keepOutput = (to, work) => keeper.run(to, work);

/** Prints a line. */
export const log = text => {
  const to = keeper.getStore();
  if (!to) return console.log(text);
  to.write(`${text}\n`);
  to.note(text);
};

/**
 * Runs a program in the project's root and shows its output. Resolves with its exit status (128 + 15 for a signal) and,
 * with `capture`, its output as text.
 */
export function run(command, args = [], { env = {}, capture = false, quiet = false, cwd = root } = {}) {
  return new Promise((done, fail) => {
    const to = keeper.getStore();
    const pipe = capture || quiet || to !== undefined;
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', pipe ? 'pipe' : 'inherit', pipe ? 'pipe' : 'inherit'],
    });
    let output = '';
    for (const [stream, shown] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ])
      stream?.setEncoding('utf8').on('data', text => {
        output += text;
        to?.note(text);
        if (!quiet) (to ?? shown).write(text);
      });
    child.once('error', fail);
    child.once('close', (code, signal) => done({ code: signal ? 143 : code, output }));
  });
}

/** As `run`, quietly; throws an Error with the output when the program fails. */
export async function must(command, args = [], options = {}) {
  const { code, output } = await run(command, args, { quiet: true, ...options });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with status ${code}\n${output}`);
  return output;
}
