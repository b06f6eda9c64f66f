// Where the project lies, and how its scripts run programs. Only node: modules: this is loaded before `npm ci`.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));
export const inRoot = (...parts) => join(root, ...parts);

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

/**
 * Runs a program in the project's root and shows its output. Resolves with its exit status (128 + 15 for a signal) and,
 * with `capture`, its output as text.
 */
export function run(command, args = [], { env = {}, capture = false, quiet = false, cwd = root } = {}) {
  return new Promise((done, fail) => {
    const pipe = capture || quiet;
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', pipe ? 'pipe' : 'inherit', pipe ? 'pipe' : 'inherit'],
    });
    let output = '';
    for (const [stream, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ])
      stream?.setEncoding('utf8').on('data', text => {
        output += text;
        if (!quiet) to.write(text);
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
