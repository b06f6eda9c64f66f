import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Profile } from 'pprof-format';
import { pprofChunks } from '../../../extension/exporters/pprof';
import { bytesOf, info, MB, sampleInput } from './sampleTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const file = async (): Promise<Buffer> => bytesOf(pprofChunks(sampleInput()));
const read = async (): Promise<Profile> => Profile.decode(gunzipSync(await file()));

test('each layer has its own sample types, whose sums are the trace’s totals', async () => {
  const profile = await read();
  const text = (index: number | bigint): string => profile.stringTable.strings[Number(index)] ?? '';
  const types = profile.sampleType.map(type => `${text(type.type)}/${text(type.unit)}`);
  const sums = types.map((_, i) => profile.sample.reduce((sum, sample) => sum + Number(sample.value[i]), 0));
  const of = (name: string): number => sums[types.indexOf(name)] ?? NaN;
  const [tensor, driver] = info.totals;
  assert.equal(of('tensor_live_space/bytes'), tensor?.liveBytes);
  assert.equal(of('tensor_live_objects/count'), 2);
  assert.equal(of('tensor_peak_space/bytes'), tensor?.peakBytes);
  assert.equal(of('tensor_alloc_space/bytes'), 8 * MB);
  assert.equal(of('tensor_alloc_objects/count'), tensor?.allocations);
  assert.equal(of('driver_live_space/bytes'), driver?.liveBytes);
  assert.equal(types.length, 12);
  assert.equal(text(profile.defaultSampleType), 'tensor_live_space');
});

test('stacks, labels and what was lost', async () => {
  const profile = await read();
  const text = (index: number | bigint): string => profile.stringTable.strings[Number(index)] ?? '';
  const samples = profile.sample.map(sample => ({
    stack: sample.locationId.map(id => {
      const line = profile.location[Number(id) - 1]?.line[0];
      const called = profile.function[Number(line?.functionId) - 1];
      return `${text(called?.filename ?? 0)}:${Number(line?.line)} ${text(called?.name ?? 0)}`;
    }),
    labels: Object.fromEntries(sample.label.map(({ key, str, num }) => [text(key), text(str) || Number(num)])),
  }));
  assert.deepEqual(samples[0], {
    stack: ['/lib/site-packages/torch/nn/linear.py:125 forward', '/home/user/train.py:41 step'],
    labels: { thread: 'python:4100', device: 'gpu_0', pid: 4100 },
  });
  const comments = profile.comment.map(text);
  assertSentence(comments.join('\n'));
  assert.equal(BigInt(profile.timeNanos), 1_700_000_000_000_000_000n);
});

test('pprof itself reads it', async t => {
  const pprof = [['go', 'tool', 'pprof'], ['pprof']].find(([name = '', ...rest]) => {
    return spawnSync(name, [...rest, '-help']).error === undefined;
  });
  if (pprof === undefined) return t.skip('no pprof here');
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-pprof-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'x.pb.gz'), await file());
  const [name = '', ...rest] = pprof;
  const words = [...rest, '-top', '-sample_index=tensor_live_space', join(folder, 'x.pb.gz')];
  const { stdout } = spawnSync(name, words, { encoding: 'utf8' });
  assert.match(stdout, /2MB .* step/);
});
