// A real ipykernel under the tracer, driven through jupyter_client, with PyTorch's CPU tensors in the place of a GPU's.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inRoot } from '../project/root.mjs';
import { linesOf, sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(fileURLToPath(import.meta.url));

const python = process.env.GMT_NOTEBOOK_PYTHON;
const cli = inRoot('dist/cli.js');
const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-notebook-'));
const env = {
  ...process.env,
  HOME: folder,
  XDG_CACHE_HOME: join(folder, 'cache'),
  XDG_RUNTIME_DIR: '',
  JUPYTER_PATH: '',
};
delete env.JUPYTER_DATA_DIR;
delete env.XDG_DATA_HOME;
const command = (...words) => spawnSync(process.execPath, [cli, ...words], { env, encoding: 'utf8' });
const kernels = join(folder, '.local/share/jupyter/kernels');

/** A notebook's run: what it saw, and its trace. */
function runNotebook() {
  assert.equal(command('kernel', 'install', '--python', python, '--user').status, 0);
  const [name] = readdirSync(kernels);
  const spec = join(kernels, name, 'kernel.json');
  const fields = JSON.parse(readFileSync(spec, 'utf8'));
  const at = fields.argv.indexOf('run') + 1;
  writeFileSync(spec, JSON.stringify({ ...fields, argv: fields.argv.toSpliced(at, 0, '--simulate-gpu') }));
  const script = inRoot('test/ecosystem/jobs/notebook.py');
  const words = [script, kernels, name, process.execPath, cli];
  const said = execFileSync(python, words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const traces = join(folder, 'cache/gpu-memory-trace/traces');
  const kept = readdirSync(traces, { recursive: true }).filter(name => name.endsWith('.gputrace'));
  return { seen: JSON.parse(said.trim().split('\n').at(-1)), trace: join(traces, kept[0] ?? ''), traces: kept };
}

const { seen, trace, traces } = runNotebook();

test('holders are called as the notebook calls them', () => {
  assert.match(seen.x, /: Out\[13\] and __main__\.x, output/);
  assert.match(seen.kept, /: __main__\.kept\[\.\.\.\] \(3 items\) at In \[4, 5, 6\]: 2/);
  assert.match(seen.output, /: Out\[10\], output/);
  assert.match(seen.newest, /: Out\[12\], output/);
  assert.match(seen.exception, /: the last exception > f\(\)\.big, traceback/);
});

test('what is advised frees it', () => {
  assert.match(seen.left, /: _, __ or ___ .*, output/);
  for (const told of seen.after) assertSentence(told);
});

test('an interrupt comes once; the kernel ends, and starts again, with its trace saved', () => {
  assert.equal(seen.interrupted, '1');
  assert.equal(seen.parent, 'True');
  assert.equal(seen.restarted, 'False');
  assert.equal(seen.gone, true);
  assert.equal(traces.length, 1, 'the second kernel used no GPU');
  assert.deepEqual(readdirSync(join(folder, 'cache/gpu-memory-trace/live')), []);
});

test('rows are cells, and each run of a cell has its own', () => {
  const { stdout } = command('report', trace, '--at', 'mark:In [13]');
  assert.match(stdout, /977 KiB in 1 .*In \[2\]: 1 /);
  assert.match(stdout, /2\.86 MiB in 3 .*In \[4, 5, 6\]: 2 /);
  assertSentence(linesOf(stdout, /^ *[\d.]+ [KM]iB in \d+ {2}In /));
  const { cells } = JSON.parse(command('report', trace, '--at', 'mark:In [13]', '--format', 'json').stdout);
  const grows = new Map(cells.map(({ cell, bytesPerRun }) => [cell, bytesPerRun]));
  assert.equal(grows.get('In [4, 5, 6]'), 977 << 10);
  assert.equal((grows.get('In [9, 10, 11, 12]') / 2 ** 20).toFixed(2), '1.14');
  const [one] = cells.filter(({ cell }) => cell === 'In [7, 8]');
  assert.deepEqual(
    one.runs.map(({ number, liveCount }) => [number, liveCount]),
    [
      [7, 0],
      [8, 1],
    ],
  );
});

test('without a moment the newest cell is shown, not what the kernel frees when it ends', () => {
  assertSentence(linesOf(command('report', trace).stdout, /In \[18\]/));
});

test('a kernel ends with its Jupyter server', { timeout: 600_000 }, async () => {
  const script = 'echo $$ $PPID $JPY_PARENT_PID; exec sleep 600';
  const words = [process.execPath, cli, 'run', '--simulate-gpu', '--format', 'none', '--', 'sh', '-c', script];
  const server = spawn('sh', ['-c', 'JPY_PARENT_PID=$$ "$@"; true', 'sh', ...words], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await new Promise(done => server.stdout.once('data', data => done(String(data))));
  const [kernel, parent, told] = said.trim().split(' ');
  assert.equal(told, parent);
  server.kill('SIGKILL');
  while (existsSync(`/proc/${kernel}`)) await new Promise(done => setTimeout(done, 50));
});

test('kernel install: beside the chosen one with its pictures; uninstall takes only ours away', () => {
  const prefix = join(folder, 'env/share/jupyter');
  const chosen = join(prefix, 'kernels/mine');
  mkdirSync(chosen, { recursive: true });
  writeFileSync(join(chosen, 'logo-64x64.png'), 'picture');
  const fields = { argv: ['python', '-m', 'ipykernel_launcher', '-f', '{connection_file}'], language: 'python' };
  writeFileSync(join(chosen, 'kernel.json'), JSON.stringify({ ...fields, display_name: 'Mine (ipykernel)' }));
  env.JUPYTER_PATH = prefix;
  const { status, stdout, stderr } = command('kernel', 'install', '--kernel', 'mine');
  assert.equal(status, 0, stderr);
  const made = join(prefix, 'kernels/mine-gpu-memtrace');
  assert.ok(stdout.includes(`"Mine (GPU Memory Trace)" in ${made}\n`), stdout);
  assert.equal(readFileSync(join(made, 'logo-64x64.png'), 'utf8'), 'picture');
  const { argv } = JSON.parse(readFileSync(join(made, 'kernel.json'), 'utf8'));
  assert.deepEqual(argv, [process.execPath, cli, 'run', '--format', 'none', '--', ...fields.argv]);
  const none = command('kernel', 'install', '--kernel', 'none');
  assert.equal(none.status, 1);
  assert.match(none.stderr, /"none".*mine.*--python PATH/);
  assert.equal(command('kernel', 'uninstall', '--name', 'mine').status, 1);
  assert.equal(command('kernel', 'uninstall', '--kernel', 'mine').status, 0);
  assert.deepEqual(readdirSync(join(prefix, 'kernels')), ['mine']);
  assertSentence(command('kernel', 'install', '--python', '/nowhere').stderr);
  assert.equal(command('kernel', 'instal').status, 2);
});
