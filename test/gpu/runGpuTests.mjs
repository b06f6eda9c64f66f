#!/usr/bin/env node
// The suite for a machine with a GPU, CUDA and PyTorch: `npm run test:gpu`, or `node test/gpu/runGpuTests.mjs [NAME…]` where dist/ was
// brought along built. Python: $GPU_MEMTRACE_PYTHON, else python3.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const python = process.env.GPU_MEMTRACE_PYTHON ?? 'python3';

if (!existsSync(join(root, 'dist/cli.js'))) {
  process.stderr.write('dist/cli.js is missing: run `npm run build` first.\n');
  process.exit(2);
}
const probe = spawnSync(python, ['-c', 'import torch; print(torch.__version__, torch.cuda.get_device_name(0))'], {
  encoding: 'utf8',
});
if (probe.status !== 0) {
  process.stdout.write(
    `0 passed, 0 failed, 1 skipped\nThis machine has no PyTorch with a working GPU for ${python}: nothing ran.\n`,
  );
  process.exit(0);
}
process.stdout.write(`PyTorch ${probe.stdout}`);
const names = process.argv.slice(2).map(name => `--test-name-pattern=${name}`);
const tests = [
  'accounting',
  'lines',
  'children',
  'sharing',
  'experiments',
  'agent',
  'waiting',
  'uprobe',
  'before',
  'callers',
  'modules',
  'passes',
  'pinned',
  'ranges',
  'beyond',
  'compiled',
  'training',
  'asleep',
  'package',
  'endless',
];
/** They fill the GPU: whatever runs beside them is refused its memory. */
const filling = ['oom', 'pools'];

let failed = false;
for (const [atOnce, files] of [
  [undefined, tests],
  ['1', filling],
]) {
  const run = spawnSync(
    process.execPath,
    [
      '--test',
      '--test-reporter=spec',
      ...(atOnce === undefined ? [] : [`--test-concurrency=${atOnce}`]),
      ...names,
    ].concat(files.map(name => join(here, `${name}.test.mjs`))),
    { stdio: 'inherit' },
  );
  failed ||= run.status !== 0;
}
process.exit(failed ? 1 : 0);
