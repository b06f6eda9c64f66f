// The recorded run that comes with the extension: what the terminal says of it, and that it is what its title says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { linesOf, sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const root = resolve(__dirname, '../../..');
const [trace, source] = ['finetune.gputrace', 'finetune.py'].map(name => join(root, 'media/sample', name)) as [
  string,
  string,
];
const report = (...options: string[]): string =>
  execFileSync(process.execPath, [join(root, 'dist/cli.js'), 'report', trace, ...options], {
    encoding: 'utf8',
    cwd: tmpdir(),
    maxBuffer: 1 << 28,
  });
const FIX = 'val_total += val_loss.detach()';

test('its report has leak, line, holder and fix, and its modules', () => {
  const text = report('--group-by', 'module-path');
  const [, line = ''] = /^LEAK: finetune\.py:(\d+) .*graph .*: /m.exec(text) ?? [];
  assert.match(text, new RegExp(`^ {2}Held by train\\(\\)\\.val_total .* at finetune\\.py:${line}\\.$`, 'm'));
  assert.ok(text.includes(`  Write \`${FIX}\`. `));
  assertSentence(linesOf(text, /^LEAK| {2}(Held|Write)/));
  assert.match(text, /^ *\S+ MiB in \d+ +layers\.1\.self_attn: \S+ MiB activations, /m);
  const statement = readFileSync(source, 'utf8').split('\n')[Number(line) - 1] ?? '';
  assert.equal(statement.split('#')[0]?.trim(), FIX.replace('.detach()', ''), 'the source beside it is what ran');
});

test('it is small, complete, and was recorded where and when its title says', () => {
  const { devices, lost, startedAt, simulated } = JSON.parse(report('--format', 'json')) as {
    devices: { name: string }[];
    lost: { events: number };
    startedAt: string;
    simulated: boolean;
  };
  assert.deepEqual([lost.events, simulated], [0, false]);
  const code = readFileSync(join(root, 'extension/views/commands/sample.ts'), 'utf8');
  const [, gpu, ...day] = /gpu: '([^']+)'.*Date\.UTC\((\d+), (\d+), (\d+)\)/.exec(code) ?? [];
  const [year = 0, month = 0, date = 0] = day.map(Number);
  assert.deepEqual(
    devices.map(({ name }) => name),
    [gpu],
  );
  assert.equal(startedAt.slice(0, 10), new Date(Date.UTC(year, month, date)).toISOString().slice(0, 10));
  assert.ok(statSync(trace).size + statSync(source).size < 1 << 20);
});
