import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import Ajv from 'ajv';
import { speedscopeChunks } from '../../../extension/exporters/speedscope';
import { bytesOf, MB, sampleInput } from './sampleTrace';

const SCHEMA = resolve(__dirname, '../../../../node_modules/speedscope/dist/release/file-format-schema.json');

interface File {
  name: string;
  profiles: { name: string; samples: number[][]; weights: number[]; endValue: number }[];
  shared: { frames: { name: string; file?: string; line?: number }[] };
}
const read = async (): Promise<File> => JSON.parse((await bytesOf(speedscopeChunks(sampleInput()))).toString()) as File;

test('it is a file by speedscope’s own schema', async () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object);
  assert.ok(validate(await read()), JSON.stringify(validate.errors));
});

test('profiles by layer and measure, outermost frame first, weights in bytes', async () => {
  const { profiles, shared, name } = await read();
  assert.deepEqual(
    profiles.map(profile => [profile.name, profile.endValue / MB]),
    [
      ['Live bytes, tensor layer', 3],
      ['Bytes alive at the peak, tensor layer', 6],
      ['Bytes ever allocated, tensor layer', 8],
      ['Live bytes, driver layer', 20],
      ['Bytes alive at the peak, driver layer', 20],
      ['Bytes ever allocated, driver layer', 20],
    ],
  );
  const [live] = profiles;
  const stacks = live?.samples.map(sample => sample.map(frame => shared.frames[frame]?.name));
  assert.deepEqual(stacks, [
    ['python:4100', 'step', 'forward'],
    ['pt_autograd_0:4101', '(no Python line)'],
  ]);
  assert.deepEqual(live?.weights, [2 * MB, MB]);
  assert.match(name, /The GPU was simulated\. 5 events lost/);
});
