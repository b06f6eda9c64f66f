// A program run under the command line, as a user does it, and the same program with the fix that its report tells.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Begins the names of the folders of programs with a fix. */
const FIXED = 'gpu-memtrace-fixed-';
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** The report of a traced run of `file`, and what the program printed. `words` are its arguments, `options` the command's. */
export async function runJob(file, { python, env, words = [], options = [] }) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-leaks-'));
  const report = join(folder, 'report.json');
  const keep = file.includes(FIXED) ? undefined : process.env.GPU_MEMTRACE_KEEP;
  const trace = join(keep ?? folder, `${basename(file, '.py')}.gputrace`);
  if (keep) mkdirSync(keep, { recursive: true });
  const args = ['run', '--format', 'json', '--report', report, '-o', trace, ...options];
  const child = spawn(process.execPath, [cli, ...args, '--', python, file, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', data => (stdout += data));
  child.stderr.on('data', data => (stderr += data));
  await new Promise(resolve => child.on('close', resolve));
  try {
    return { report: JSON.parse(readFileSync(report, 'utf8')), stdout };
  } catch (error) {
    throw new Error(`${basename(file)} gave no report: ${stderr || error.message}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first fix of the report for `file`; undefined: it has none. */
export const fixFor = (file, { findings = [] }) =>
  findings.find(({ holder }) => holder?.fix && holder.file === file)?.holder.fix;

/** Runs `use` on a copy of the program with the fix, which lies in a folder of its own. */
export async function withFix(file, fix, use) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const [head, tail] = [lines[fix.line - 1].slice(0, fix.column - 1), lines[fix.endLine - 1].slice(fix.endColumn - 1)];
  lines.splice(fix.line - 1, fix.endLine - fix.line + 1, head + fix.after + tail);
  const folder = mkdtempSync(join(tmpdir(), FIXED));
  try {
    const copy = join(folder, basename(file));
    writeFileSync(copy, lines.join('\n'));
    return await use(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a report calls a leak. */
export const leaksOf = ({ findings }) => findings.filter(({ verdict }) => verdict === 'leak');
