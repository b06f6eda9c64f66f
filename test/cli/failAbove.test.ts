// A run beside runs of the version before it: `report NEW --compare BASE --fail-above 5%`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { join } from 'node:path';
import { inLong } from '../long.mjs';
import { Place, python, root, SIMULATED } from './launcher';

const program = (batch: number, kept: number): string => `
import sys
sys.path.insert(0, ${JSON.stringify(join(root, 'test/workloads'))})
import gpu
weights = [gpu.empty(2 * gpu.MIB) for _ in range(8)]
losses = []
def step():
    hidden = gpu.empty(${batch} * gpu.MIB)
    gradients = [gpu.empty(gpu.MIB) for _ in weights]
    losses.append(gpu.empty(${kept} or 1024))
    ${kept > 0 ? '' : 'losses.clear()'}
for _ in range(120):
    step()
`;

async function record(place: Place, name: string, batch: number, kept = 0): Promise<string> {
  const script = place.write('train.py', program(batch, kept));
  const to = place.path(`${name}.gputrace`);
  const words = ['run', '--simulate-gpu', '--format', 'none', '-o', to, '--', python, script];
  const ended = await place.run(words);
  assert.equal(ended.status, 0, ended.stderr);
  return to;
}

const github = (place: Place): NodeJS.ProcessEnv => ({
  GITHUB_ACTIONS: 'true',
  GITHUB_STEP_SUMMARY: place.path('summary.md'),
});

test('the peak and what each step leaves behind, beside runs of the version before', async t => {
  const place = new Place(t);
  const base = await record(place, 'base', 16);
  const again = await record(place, 'again', 16);
  const bigger = await record(place, 'bigger', 24);
  const leaking = await record(place, 'leaking', 16, 16 * 1024);
  const gate = (run: string, more: string[] = [], env: NodeJS.ProcessEnv = {}) =>
    place.run(['report', run, '--compare', base, ...more, '--fail-above', '5%'], env);

  const same = await gate(again, ['--compare', again]);
  assert.deepEqual([same.status, same.stderr], [0, ''], same.stdout);
  assert.match(same.stdout, /^PEAK .* \(0\.0 %, limit 5 %\)$/m);
  assert.match(same.stdout, /^The peaks of the base runs differ by 0\.0 %; the highest counts\.\nPASSED$/m);

  const above = await gate(bigger, [], github(place));
  assert.equal(above.status, 3, above.stdout);
  assert.match(above.stdout, /\+8\.00 MB {2}train\.py:8 step {2}\(16\.00 MB -> 24\.00 MB\)/);
  assert.match(above.stdout, /One base run: how much the peak varies/);
  assert.match(above.stdout, /^FAILED: the peak is above the limit$/m);
  assert.match(
    above.stdout,
    /^::error file=train\.py,line=8,title=GPU memory at the peak::\+8\.00 MB {2}train\.py:8 step/m,
  );
  const summary = readFileSync(place.path('summary.md'), 'utf8');
  assert.match(summary, /^### GPU memory: FAILED: the peak is above the limit$/m);
  assert.match(summary, /^\| train\.py:8 step \| 16\.00 MB \| 24\.00 MB \|$/m);

  const shown = await place.run(['report', bigger, '--compare', base]);
  const from = (text: string): string => /(\S+ MB) (?:in the base )?-> (\S+ MB)/.exec(text)?.slice(1).join() ?? text;
  assert.equal(
    from(above.stdout),
    from((await place.run(['report', bigger, '--at', 'peak', '--compare', `${base}@peak`])).stdout),
    'one direction',
  );
  assert.match(shown.stdout, /^A {2}\S+base\.gputrace.*\nB {2}\S+bigger\.gputrace/);

  const leaks = await gate(leaking);
  assert.equal(leaks.status, 3, leaks.stdout);
  assert.match(leaks.stdout, /LEFT BEHIND IN EACH STEP\n {4}\+16\.00 KB {2}train\.py:10 step {2}\(0 B -> 16\.00 KB\)/);
  assert.match(leaks.stdout, /FAILED: .*1 line leaves more behind in each step/);
  const fixed = await place.run(['report', base, '--compare', leaking, '--fail-above', '5%']);
  assert.equal(fixed.status, 0, fixed.stdout);
  const json = await gate(leaking, ['--format', 'json']);
  const document = JSON.parse(json.stdout) as { passed: boolean; growth: { line: number; bytesB: number }[] };
  assert.deepEqual([document.passed, document.growth.map(({ line }) => line)], [false, [10]]);
});

inLong(test)('the example of a workflow works as it stands, on the simulated GPU', async t => {
  const place = new Place(t);
  const [now, base] = ['now', 'base'].map(name => place.path(name));
  for (const [folder, batch] of [
    [now, 24],
    [base, 16],
  ] as const) {
    mkdirSync(folder ?? '');
    writeFileSync(join(folder ?? '', 'train.py'), program(batch, 0));
  }
  mkdirSync(place.path('bin'));
  const shim = `#!/bin/sh\nexec ${place.command.map(word => `"${word}"`).join(' ')} "$@"\n`;
  writeFileSync(place.path('bin/gpu-memtrace'), shim, { mode: 0o755 });
  const workflow = readFileSync(join(root, 'examples/gpu-memory.yml'), 'utf8');
  const RECORD = /RECORD: (.*)/.exec(workflow)?.[1] ?? '';
  const env = {
    ...place.env,
    ...SIMULATED,
    ...github(place),
    RECORD,
    PATH: `${place.path('bin')}:${process.env.PATH}`,
  };
  const steps = [...workflow.matchAll(/ +- name: (?!Install)(.*)\n(?: +working-directory: (.*)\n)? +run: (.*)\n/g)];
  const ended = steps.map(([, , folder = '', command = '']) =>
    spawnSync('bash', ['-e', '-c', command], { cwd: place.path(folder), env, encoding: 'utf8' }),
  );
  assert.deepEqual(
    ended.map(({ status }) => status),
    [0, 0, 3],
    ended.map(({ stdout, stderr }) => stdout + stderr).join('\n'),
  );
  assert.match(ended[2]?.stdout ?? '', /^::error file=train\.py,line=8,/m);
});

test('what cannot be judged is said, and is neither passed nor above', async t => {
  const place = new Place(t);
  const run = await record(place, 'run', 4);
  const nothing = place.write('nothing.py', 'print(1)');
  const gone = await place.run(['report', run, '--compare', nothing, '--fail-above', '5%']);
  assert.equal(gone.status, 1, gone.stdout);
  for (const [words, sentence] of [
    [['--fail-above', '5%'], /--fail-above needs a trace to compare with/],
    [['--compare', run, '--fail-above', '5'], /--fail-above 5 is not a percentage, such as 5% or 0\.5%/],
    [['--compare', run, '--compare', run], /--compare takes one trace; several are repeats/],
    [['--compare', run, '--fail-above', '5%', '--at', 'peak'], /without --at, @T and --group-by/],
  ] as const) {
    const { status, stderr } = await place.run(['report', run, ...words]);
    assert.equal(status, 2);
    assert.match(stderr, sentence);
  }
});
