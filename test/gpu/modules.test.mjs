// Which module made what lives, against forward hooks on all modules of the same run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { jobFile, python } from './traced.mjs';

const cli = join(dirname(fileURLToPath(import.meta.url)), '../../dist/cli.js');

const RANKS = Number(
  spawnSync(python, ['-c', 'import torch; print(torch.cuda.device_count())'], { encoding: 'utf8' }).stdout,
);
const TORCHRUN = ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', String(RANKS)];

for (const model of ['gpt2', 'llama', 'resnet', 'checkpointed', 'lightning_module', 'fsdp2'])
  test(`modules of ${model}: bytes by path as forward hooks tell them`, () => {
    const ranked = model === 'fsdp2';
    const folder = mkdtempSync(join(tmpdir(), 'gmt-modules-'));
    const [trace, told] = ['job.gputrace', 'truth.json'].map(name => join(folder, name));
    const env = { ...process.env, GMT_MODEL: model, GMT_TRUTH: told };
    const program = [python, ...(ranked ? TORCHRUN : []), jobFile('modules')];
    const words = ['run', '--format', 'none', '-o', trace, '--', ...program];
    const ran = spawnSync(process.execPath, [cli, ...words], { env, encoding: 'utf8' });
    assert.equal(ran.status, 0, ran.stderr);
    const report = (...of) =>
      JSON.parse(
        spawnSync(process.execPath, [cli, 'report', trace, '--format', 'json', ...of], { maxBuffer: 1 << 30 }).stdout,
      );
    const { groups } = report('--group-by', 'module-path');
    const { peak } = report('--at', 'peak').moment;
    for (const parts of ['categories', 'modules'])
      assert.equal(
        peak[parts].reduce((sum, { bytes }) => sum + bytes, 0),
        peak.bytes,
        parts,
      );
    const paths = {};
    for (const rank of ranked ? Array(RANKS).keys() : [''])
      for (const [path, bytes] of Object.entries(JSON.parse(readFileSync(`${told}${rank}`, 'utf8')).paths))
        paths[path] = (paths[path] ?? 0) + bytes;
    rmSync(folder, { recursive: true, force: true });
    const rows = groups.map(({ label, liveBytes }) => [label, liveBytes]);
    const found = Object.fromEntries(rows);
    const sum = Object.values(paths).reduce((a, b) => a + b, 0);
    const all = [...new Set([...Object.keys(paths), ...Object.keys(found)])];
    const wrong = all.map(path => [path, paths[path] ?? 0, found[path] ?? 0]).filter(([, told, own]) => told !== own);
    const share = 1 - wrong.reduce((bytes, [, told, own]) => bytes + Math.abs(told - own), 0) / 2 / sum;
    console.log(
      `${model}: ${(share * 100).toFixed(2)} % of ${sum} bytes at the path of ${all.length}; ${JSON.stringify(wrong.slice(0, 6))}; peak ${peak.bytes} in ${peak.phase} of ${peak.module}`,
    );
    assert.ok(Object.keys(paths).length > 5 && share >= 0.995, JSON.stringify(wrong, null, 1));
  });
