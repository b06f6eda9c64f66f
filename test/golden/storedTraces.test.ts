// Stored traces and what the command line must say of them. `npm test -- golden --update` writes what it says now; a run that differs
// leaves it beside the expectation as `*.actual`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(__dirname, '../../..');
const golden = join(root, 'test/golden');
const traces = readdirSync(golden, { recursive: true })
  .map(name => join(golden, String(name)))
  .filter(name => name.endsWith('.gputrace'))
  .sort();

function compare(file: string, actual: string): void {
  if (process.env.UPDATE_GOLDEN) writeFileSync(file, actual);
  assert.ok(existsSync(file), `${file} is missing: look at what npm test -- golden --update writes, and keep it`);
  if (actual !== readFileSync(file, 'utf8')) writeFileSync(`${file}.actual`, actual);
  assert.equal(actual, readFileSync(file, 'utf8'));
  rmSync(`${file}.actual`, { force: true });
}

test('there are stored traces', () => assert.ok(traces.length > 0));

for (const trace of traces) {
  for (const format of ['table', 'json']) {
    test(`${relative(golden, trace)} as ${format}`, () => {
      const words = [join(root, 'dist/cli.js'), 'report', relative(golden, trace), '--format', format];
      const env = { ...process.env, TZ: 'UTC' };
      const said = execFileSync(process.execPath, words, { encoding: 'utf8', cwd: golden, env });
      compare(trace.replace(/\.gputrace$/, format === 'table' ? '.table.txt' : '.report.json'), said);
    });
  }
}

for (const by of ['function', 'file', 'thread', 'process', 'device'])
  test(`by ${by}: what leaks is told of the group, by steps`, () => {
    const words = [join(root, 'dist/cli.js'), 'report', join(golden, 'trace/steps.gputrace'), '--group-by', by];
    const said = (...more: string[]) => execFileSync(process.execPath, [...words, ...more], { encoding: 'utf8' });
    assert.match(said(), / in 2\d \+512 B\/step leak/);
    assert.doesNotMatch(said(), /KB\/s/);
    const { groups } = JSON.parse(said('--format', 'json')) as { groups: { verdict: string; bytesPerStep: number }[] };
    assert.ok(groups.some(({ verdict, bytesPerStep }) => verdict === 'growing' && bytesPerStep === 512));
  });

test('functions are told by name', () => {
  const words = [join(root, 'dist/cli.js'), 'report', join(golden, 'trace/steps.gputrace'), '--group-by', 'function'];
  const said = execFileSync(process.execPath, words, { encoding: 'utf8' });
  assert.match(said, /^LIVE BY .*\n.* <module> \(train\.py\)\n.* train \(train\.py\)\n.* before recording$/m);
});
