// A run beside runs of the version before it: `report NEW --compare BASE --fail-above 5%`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inLong } from '../long.mjs';
import { Place, python, root, SIMULATED } from './launcher';
import { linesOf, sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

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
  assert.match(same.stdout, /^PEAK .* \(0\.0%, limit 5%\)$/m);
  assert.match(same.stdout, /\nPASSED\n/);
  assertSentence(linesOf(same.stdout, /base runs/));

  const above = await gate(bigger, [], github(place));
  assert.equal(above.status, 3, above.stdout);
  assert.match(above.stdout, /\+8 MiB {2}train\.py:8 step {2}\(16 MiB -> 24 MiB\)/);
  assertSentence(linesOf(above.stdout, /base run|^FAILED/));
  assert.match(above.stdout, /^::error file=train\.py,line=8,title=.*::\+8 MiB {2}train\.py:8 step/m);
  assertSentence(linesOf(above.stdout, /^::error/));
  const summary = readFileSync(place.path('summary.md'), 'utf8');
  assertSentence(linesOf(summary, /^###/));
  assert.match(summary, /^\| train\.py:8 step \| 16 MiB \| 24 MiB \|$/m);

  const shown = await place.run(['report', bigger, '--compare', base]);
  const from = (text: string): string => /(\S+ MiB) (?:in the base )?-> (\S+ MiB)/.exec(text)?.slice(1).join() ?? text;
  assert.equal(
    from(above.stdout),
    from((await place.run(['report', bigger, '--at', 'peak', '--compare', `${base}@peak`])).stdout),
    'one direction',
  );
  assert.match(shown.stdout, /^A {2}\S+base\.gputrace.*\nB {2}\S+bigger\.gputrace/);

  const leaks = await gate(leaking);
  assert.equal(leaks.status, 3, leaks.stdout);
  assert.match(leaks.stdout, /^ {4}\+16 KiB {2}train\.py:10 step {2}\(0 B -> 16 KiB\)/m);
  assertSentence(linesOf(leaks.stdout, /^[A-Z]{4}/));
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
  const workflow = readFileSync(join(root, 'docs/examples/gpu-memory.yml'), 'utf8');
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
  for (const words of [
    ['--fail-above', '5%'],
    ['--compare', run, '--fail-above', '5'],
    ['--compare', run, '--compare', run],
    ['--compare', run, '--fail-above', '5%', '--at', 'peak'],
  ]) {
    const { status, stderr } = await place.run(['report', run, ...words]);
    assert.equal(status, 2);
    assertSentence(stderr);
  }
});
