import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { explain } from '../../../extension/capture/checks/attachTarget';
import {
  capabilitiesSuffice,
  readSurroundings,
  nosuidMount,
  privilegeAdvice,
  type Surroundings,
} from '../../../extension/capture/checks/privileges';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const plain: Surroundings = {
  kernel: '6.8.0-45-generic',
  root: false,
  nosuidMount: null,
  noNewPrivileges: false,
  container: false,
  obtainable: true,
};
const program = '/home/a da/.vscode/dist/native/gpu-memtrace-uprobe';
const sudo = ['/usr/bin/node', '/x y/cli.js', 'attach', '12'];
const advice = (around: Partial<Surroundings>): ReturnType<typeof privilegeAdvice> =>
  privilegeAdvice(program, sudo, { ...plain, ...around });

test('the kernel decides what is needed', () => {
  for (const kernel of ['6.6.0', '6.10.1-rc2', '7.0.0', '6.18.44-fc']) assert.ok(capabilitiesSuffice(kernel), kernel);
  for (const kernel of ['6.5.13', '5.19.0-119-generic', '4.18.0-553.el8.x86_64'])
    assert.ok(!capabilitiesSuffice(kernel), kernel);
});

test('where a capability of the file helps, the line names the real path, quoted', () => {
  const { sentence, command } = advice({});
  assertSentence(sentence);
  assert.equal(command, `sudo setcap cap_bpf,cap_perfmon+ep '${program}'`);
});

test('where it does not help, the line is sudo, and the sentence says why', () => {
  const line = "sudo /usr/bin/node '/x y/cli.js' attach 12";
  for (const around of [{ kernel: '5.19.0' }, { nosuidMount: '/home' }, { noNewPrivileges: true }]) {
    const { sentence, command } = advice(around);
    assertSentence(sentence);
    assert.match(sentence, /:$/);
    assert.equal(command, line);
  }
});

test('where nothing can be typed, the sentence says what else', () => {
  const contained = advice({ container: true, obtainable: false });
  assertSentence(contained.sentence);
  assertSentence(advice({ container: true, root: true, kernel: '5.4.0' }).sentence);
  assertSentence(advice({ root: true }).sentence);
  for (const around of [{ container: true, obtainable: false }, { root: true }])
    assert.equal(advice(around).command, null);
});

test('the mount of a path, and whether it ignores capabilities', () => {
  const mounts = [
    '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw',
    '30 22 0:40 / /home rw,nosuid,nodev,relatime shared:2 - nfs4 server:/home rw',
    '31 30 0:41 / /home/with\\040space rw,relatime - ext4 /dev/vdb rw',
    '',
  ].join('\n');
  assert.equal(nosuidMount(mounts, '/opt/x'), null);
  assert.equal(nosuidMount(mounts, '/home/ada/x'), '/home');
  assert.equal(nosuidMount(mounts, '/homestead/x'), null);
  assert.equal(nosuidMount(mounts, '/home/with space/x'), null);
  assert.equal(
    nosuidMount(`${mounts}40 22 0:42 / /home rw,relatime - ext4 /dev/vdc rw\n`, '/home/ada/x'),
    null,
    'mounted over',
  );
  assert.equal(nosuidMount('', '/x'), null);
});

function proc(t: TestContext, status: string, uidMap: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'proc-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'self'));
  writeFileSync(join(folder, 'self/status'), status);
  writeFileSync(join(folder, 'self/uid_map'), uidMap);
  writeFileSync(join(folder, 'self/mountinfo'), '22 1 254:0 / / rw,nosuid - ext4 /dev/vda rw\n');
  return folder;
}

test('what /proc tells', t => {
  const all = 'CapBnd:\t000001ffffffffff\nNoNewPrivs:\t0\n';
  const free = readSurroundings(program, proc(t, all, '         0          0 4294967295\n'), '6.8.0');
  assert.deepEqual([free.obtainable, free.noNewPrivileges, free.nosuidMount], [true, false, '/']);
  // Docker's default set.
  const docker = proc(t, 'CapBnd:\t00000000a80425fb\nNoNewPrivs:\t1\n', '         0     100000      65536\n');
  const kept = readSurroundings(program, docker, '6.8.0');
  assert.deepEqual([kept.obtainable, kept.noNewPrivileges, kept.container], [false, true, true]);
  const admin = proc(t, 'CapBnd:\t0000000000200000\n', '');
  assert.equal(readSurroundings(program, admin, '5.19.0').obtainable, true);
  assert.equal(readSurroundings(program, admin, '6.8.0').obtainable, false);
});

test('each refusal of the tracer in words', () => {
  const failed = explain({ type: 'error', code: 'failed', message: 'Said so.' }, '/d', sudo);
  assert.deepEqual(failed, { sentence: 'Said so.', command: null });
  for (const code of ['no-bpf', 'no-btf'] as const) {
    const { sentence } = explain({ type: 'error', code, message: 'This kernel has none.' }, '/d', sudo);
    assertSentence(sentence);
  }
  assert.match(explain({ type: 'error', code: 'no-privilege', message: '' }, '/d', sudo).sentence, / CAP_/);
});
