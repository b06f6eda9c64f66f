// Each command of the manual and of README.md runs as it is written, on the simulated GPU. Launchers are stand-ins that run what they are given.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { dist, DRIVER_SCRIPT, HANG_MS, Place, python, root, SIMULATED, until } from './launcher';

const PAGES = ['README.md', ...readdirSync(join(root, 'docs')).filter(name => name.endsWith('.md'))];
const FENCE = /^```(\w+)\n([^]*?)^```$/gm;
/** Half a step is kept, and at the end memory runs out. */
const TRAIN = `${DRIVER_SCRIPT}kept = []
for step in range(40):
    kept.append(alloc(512 << 10))
    free(alloc(4096))
    time.sleep(0.002)
try: alloc(1 << 50)
except RuntimeError: pass
open("pid", "w").write(str(os.getpid()))
while not os.path.exists("go"): time.sleep(0.01)
`;
/** What else than 0 a line may end with, and what it prints then: what it needs is not here, or that is what it is for. */
const OTHERWISE: [RegExp, number, RegExp][] = [
  [/ --fail-on-leak/, 3, /LEAK|^$/],
  [/gpu-memtrace attach/, 125, /CUDA|eBPF|BPF|CAP_/],
  [/--backend uprobe/, 125, /BPF|CAP_|setcap/],
  [/gpu-memtrace doctor/, 1, /GPU/],
  [/gpu-memtrace holders/, 1, /PyTorch/], // what the driver alone has
  [/gpu-memtrace sql/, 1, /DuckDB/],
  [/gpu-memtrace fit run/, 1, /no tensors/], // what the driver alone has
];
const PROGRAMS: Record<string, string> = {
  python: `exec "${python}" "$@"`,
  srun: 'export SLURM_JOB_ID=4711 SLURM_PROCID=0; exec "$@"',
  mpirun: 'shift 2; exec "$@"',
  torchrun: 'while [ "${1#--}" != "$1" ]; do shift 2; done; exec python "$@"',
  code: '[ "$1" = --install-extension ] && [ "$2" = "$VSIX" ]',
  pip: '[ "$1" = install ] && [ "$2" = "$WHEEL" ]',
  unzip: `[ "$1" = "$VSIX" ] && mkdir -p "$3/extension" && ln -sfn "${dist}" "$3/extension/dist"`,
};

const pageOf = (name: string): string => readFileSync(join(root, name === 'README.md' ? '' : 'docs', name), 'utf8');
const fences = (page: string, ...kinds: string[]): string[] =>
  [...pageOf(page).matchAll(FENCE)].filter(([, kind = '']) => kinds.includes(kind)).map(([, , text = '']) => text);

/** A folder with what the manual's commands work on, and the programs that they call. */
class Workplace {
  readonly place: Place;
  readonly env: NodeJS.ProcessEnv;

  constructor(t: TestContext) {
    this.place = new Place(t);
    const { place } = this;
    for (const folder of ['bin', 'home', 'site', 'data/kernels/python3', 'shared'])
      mkdirSync(place.path(folder), { recursive: true });
    const command = place.command.map(word => `"${word}"`).join(' ');
    for (const [name, text] of Object.entries({ ...PROGRAMS, 'gpu-memtrace': `exec ${command} "$@"` }))
      writeFileSync(place.path('bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    place.write(
      'data/kernels/python3/kernel.json',
      '{"argv": ["python"], "language": "python", "display_name": "Python 3"}',
    );
    // The Python package as a wheel installs it.
    cpSync(join(root, 'native/package/gpu_memtrace'), place.path('site/gpu_memtrace'), { recursive: true });
    mkdirSync(place.path('site/gpu_memtrace/native'));
    for (const name of ['libgpumemtrace.so', 'gpu-memtrace-recorder'])
      symlinkSync(join(dist, 'native', name), place.path('site/gpu_memtrace/native', name));
    place.write('site/sitecustomize.py', readFileSync(join(root, 'native/package/gpu_memtrace.pth'), 'utf8'));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    this.env = {
      ...place.env,
      ...SIMULATED,
      HOME: place.path('home'),
      XDG_DATA_HOME: '',
      JUPYTER_DATA_DIR: '',
      JUPYTER_PATH: place.path('data'),
      PYTHONPATH: place.path('site'),
      PATH: `${place.path('bin')}:${process.env.PATH}`,
      VSIX: `gpu-memory-trace-linux-x64-${version}.vsix`,
      WHEEL: `gpu_memtrace-${version}-py3-none-manylinux_2_28_x86_64.whl`,
    };
  }

  /** Runs lines in a shell, as a user types them. The status of each, and what it printed. */
  type(lines: readonly string[]): { line: string; status: number; output: string }[] {
    const script = lines.map(line => `${line}\necho "<$?>"\n`).join('');
    const { stdout } = spawnSync('sh', ['-c', `exec 2>&1\n${script}`], {
      cwd: this.place.folder,
      env: this.env,
      encoding: 'utf8',
      input: '',
      maxBuffer: 1 << 28,
      timeout: HANG_MS,
    });
    const parts = stdout.split(/<(\d+)>\n/);
    return lines.map((line, i) => ({ line, status: Number(parts[2 * i + 1]), output: parts[2 * i] ?? '' }));
  }

  /** Traces, a snapshot, the folder of a job, and a program that is traced until the test is over. Gives the PID of that. */
  async prepare(): Promise<string> {
    const { place } = this;
    place.write('train.py', TRAIN);
    const live = place.start(['run', '-o', place.path('live.gputrace'), '--', python, 'train.py'], this.env);
    await until(() => existsSync(place.path('pid')) && readFileSync(place.path('pid'), 'utf8') !== '');
    const [marked] = this.type([`gpu-memtrace mark ${readFileSync(place.path('pid'), 'utf8')} "before eval"`]);
    assert.equal(marked?.status, 0, marked?.output);
    place.write('go', '');
    await live.ended;
    for (const [batch, like] of [
      [8, 10],
      [16, 20],
    ]) {
      const packed = readFileSync(join(root, `test/golden/fit/graphnet${like}.gputrace.gz`));
      writeFileSync(place.path(`batch${batch}.gputrace`), gunzipSync(packed));
    }
    const made = this.type([
      'cp live.gputrace new.gputrace && cp live.gputrace base.gputrace',
      'gpu-memtrace report live.gputrace --format pytorch-snapshot -o snapshot.pickle',
      `srun gpu-memtrace run --format none -o ${place.path('shared/run-%j/')} -- python train.py`,
    ]);
    assert.deepEqual(
      made.map(({ status }) => status),
      [0, 0, 0],
      made.map(({ output }) => output).join('\n'),
    );
    mkdirSync(place.path('live'));
    place.write('live/train.py', TRAIN.replace('"pid"', '"waits"').replace('"go"', '"end"'));
    void place.start(['run', '--format', 'none', '--', python, 'live/train.py'], this.env);
    await until(() => existsSync(place.path('waits')) && readFileSync(place.path('waits'), 'utf8') !== '');
    return readFileSync(place.path('waits'), 'utf8');
  }
}

test('every command of the manual runs as it is written', async t => {
  const work = new Workplace(t);
  const { place } = work;
  const pid = await work.prepare();
  /** What only this machine knows: a PID, and where all machines can write. */
  const here = (line: string): string =>
    line
      .replace(/(attach) 4711/, `$1 ${process.pid}`)
      .replace(/(holders|mark|record) \d{4}\b/, `$1 ${pid}`)
      .replaceAll('/shared/', `${place.path('shared')}/`);
  for (const page of PAGES)
    await t.test(page, () => {
      for (const fence of fences(page, 'sh')) {
        cpSync(place.path('live.gputrace'), place.path('run.gputrace'));
        for (const { line, status, output } of work.type(fence.trim().split('\n').map(here))) {
          const foreseen = OTHERWISE.some(
            ([which, ends, prints]) => which.test(line) && status === ends && prints.test(output),
          );
          assert.ok(status === 0 || foreseen, `${line}\nended with ${status}:\n${output}`);
          const made = / -o (\S+)/.exec(line)?.[1]?.replace('%j', '4711');
          if (status === 0 && made && !line.includes('attach'))
            assert.ok(existsSync(join(place.folder, made.replace(place.folder, ''))), `${line}: ${made}`);
        }
      }
    });
  place.write('end', '');
});

test('Python and JSON of the manual can be parsed', () => {
  const blocks = PAGES.flatMap(page => fences(page, 'python'));
  const { status, stderr } = spawnSync(
    python,
    ['-c', 'import ast, json, sys\nfor block in json.load(sys.stdin): ast.parse(block)'],
    {
      input: JSON.stringify(blocks),
      encoding: 'utf8',
    },
  );
  assert.ok(blocks.length >= 4 && status === 0, stderr);
  for (const block of PAGES.flatMap(page => fences(page, 'json'))) JSON.parse(block);
});

test('the example of README.md is what the report of the sample prints', async t => {
  const { stdout } = await new Place(t).run(['report', join(root, 'media/sample/finetune.gputrace')]);
  const lines = fences('README.md', 'text').join('').trim().split('\n');
  assert.ok(lines.length >= 3);
  for (const line of lines) assert.ok(stdout.includes(`${line}\n`), `${line}\n\n${stdout}`);
});
