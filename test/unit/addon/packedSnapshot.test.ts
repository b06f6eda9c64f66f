// Snapshots that are packed: by gzip, or in a zip archive; what is damaged, or made to fill a disk, is refused with one sentence.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { NativeAddon } from '../../../extension/native/native';
import { isSnapshot } from '../../../extension/files/snapshotFile';
import { traceFile } from '../../../extension/native/traceFile';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence, assertRejects } = sentencesOf(__filename);

const loaded = { exports: {} };
process.dlopen(loaded, resolve(process.env['GMT_ADDON'] ?? 'dist/native/gpu_memory_trace.node'));
const addon = loaded.exports as NativeAddon;
const folder = mkdtempSync(join(tmpdir(), 'gmt-packed-'));
const temporary = mkdtempSync(join(folder, 'tmp-'));
after(() => rmSync(folder, { recursive: true }));

/** A test whose temporary files have a folder of their own. */
function testAlone(name: string, body: () => Promise<void>): void {
  test(name, async () => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = temporary;
    try {
      await body();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });
}

const plain = join(folder, 'x.pickle');
const truth = JSON.parse(
  execFileSync('python3', [resolve('test/workloads/snapshots/memory_snapshot.py'), plain, '--steps', '3'], {
    encoding: 'utf8',
  }),
) as { bytes: number };

/** Python's zipfile writes it: `members` are statements that use `z` and `data`. */
function zip(name: string, members: string): string {
  const path = join(folder, name);
  const script = `import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED)\ndata = open(sys.argv[2], "rb").read()\n${members}\nz.close()\n`;
  execFileSync('python3', ['-c', script, path, plain]);
  return path;
}
function written(name: string, bytes: Buffer): string {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
}
async function liveBytes(file: string): Promise<[number | undefined, string[] | undefined]> {
  const trace = await traceFile(addon, file);
  const session = addon.open(trace.path);
  await session.settle();
  const { totals, processes } = session.info();
  session.close();
  trace.release();
  assert.deepEqual(readdirSync(tmpdir()), []);
  return [totals.find(({ layer }) => layer === 'tensor')?.liveBytes, processes[0]?.command];
}

const packed = gzipSync(readFileSync(plain));
testAlone('gzip and zip open as what is in them, under their own name', async () => {
  assert.deepEqual(await liveBytes(written('a.pickle.gz', packed)), [truth.bytes, ['a.pickle']]);
  assert.deepEqual(await liveBytes(written('attached', packed)), [truth.bytes, ['attached']]);
  assert.ok(isSnapshot(join(folder, 'attached')));
  const members = ['z.writestr("run/b.pickle", data)', 'z.writestr("b", data, zipfile.ZIP_STORED)'];
  for (const one of members) assert.deepEqual(await liveBytes(zip('b.zip', one)), [truth.bytes, ['b']]);
  const mac = 'z.writestr("__MACOSX/._c.pkl", b"x")\nz.writestr("c.pkl", data)\nz.writestr("notes.txt", b"x")';
  assert.deepEqual(await liveBytes(zip('c.pickle.zip', mac)), [truth.bytes, ['c.pickle']]);
});

const LINK =
  'i = zipfile.ZipInfo("x.pickle")\ni.create_system = 3\ni.external_attr = 0o120777 << 16\nz.writestr(i, b"/etc/passwd")';
const BOMB =
  'for _ in range(1):\n  with z.open("x.pickle", "w") as out:\n    for _ in range(70): out.write(bytes(1 << 20))';
const REFUSED: [string, () => string][] = [
  ['a gzip that was cut', () => written('d.gz', packed.subarray(0, 500))],
  ['a damaged gzip', () => written('e.gz', Buffer.concat([packed.subarray(0, 60), packed.subarray(61)]))],
  ['a bomb', () => zip('f.zip', BOMB)],
  ['two snapshots', () => zip('g.zip', 'z.writestr("a.pkl", data)\nz.writestr("b.pkl", data)')],
  ['a link', () => zip('h.zip', LINK)],
  ['an archive of something else', () => zip('j.zip', 'z.writestr("$&.txt", b"hello")')],
  ['an empty archive', () => zip('i.zip', '')],
  ['what is no snapshot', () => zip('j.zip', 'z.writestr("x.pickle", b"hello")')],
  ['what is packed by xz', () => written('l.pickle.xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]))],
  ['an archive that says at once that it is too large', () => zip('m.zip', BOMB.replace('range(70)', 'range(700)'))],
  ['no gzip', () => written('k.gz', Buffer.from('hello'))],
];
for (const [name, make] of REFUSED) {
  testAlone(`${name} is refused with one sentence`, async () => {
    await assert.rejects(traceFile(addon, make()), error => {
      assertSentence((error as Error).message.replace(/damaged \(.*\)/, 'damaged (…)'), 'which damage zlib found');
      assert.ok(!(error as Error).message.includes(tmpdir()));
      return true;
    });
    assert.deepEqual(readdirSync(tmpdir()), []);
  });
}

testAlone('a zip archive that is damaged anywhere is read whole, or refused with one sentence', async () => {
  const path = zip('l.zip', 'z.writestr("x.pickle", data)');
  const bytes = readFileSync(path);
  for (let round = 0; round < 200; round++) {
    const place = round < 100 ? bytes.length - 1 - round : (round * 7919) % bytes.length;
    const damaged = Buffer.from(bytes);
    damaged[place] = (damaged[place] ?? 0) ^ 0x55;
    await liveBytes(written('m.zip', damaged)).then(
      ([live]) => assert.equal(live, truth.bytes, `byte ${place}`),
      (error: Error) => assert.match(error.message, /^\S+m\.zip was not [^\n]+\.$/),
    );
  }
  truncateSync(path, bytes.length - 30);
  await assertRejects(traceFile(addon, path));
});
