// A compiled model: whose what lives is, against an eager run of the same model, and at which line of the program.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { liveByAddress, runTraced, runUntraced } from './traced.mjs';

test('blocks of a compiled model by module and line', () => {
  const { stdout } = runUntraced('compiled_model');
  const run = runTraced('compiled_model');
  assert.deepEqual([run.status, run.stdout], [0, stdout], run.stderr);
  const { paths } = run.truth;
  const blocks = [...liveByAddress(run.report, 'tensor')];
  const rows = blocks.map(([at, { bytes, module, site }]) => ({ at, bytes, module, site, truth: paths[at] }));
  // What no eager operation makes, as a half of a normalization, is of a module that its values do not tell.
  const told = rows.filter(({ truth = [] }) => truth.length > 0);
  const sum = list => list.reduce((all, { bytes }) => all + bytes, 0);
  const right = told.filter(({ module, truth }) => truth.includes(module));
  const wrong = told.filter(row => !right.includes(row));
  const activations = told.filter(({ site }) => site.frames.some(({ file }) => file.includes('torchinductor_')));
  console.log(
    `${((100 * sum(right)) / sum(told)).toFixed(2)} % of ${sum(told)} bytes in ${told.length} blocks; compiled code made ${sum(activations)} in ${activations.length}`,
  );
  for (const { module, truth, bytes, site } of wrong) console.log(bytes, module, truth, site.userFrame);
  const lines = new Map();
  for (const { site, bytes } of activations) {
    const { file = '', line = 0, function: name = '' } = site.userFrame ?? {};
    const key = `${file.split('/').at(-1)}:${line} ${name}`;
    lines.set(key, (lines.get(key) ?? 0) + bytes);
  }
  console.log([...lines]);
  console.log(
    rows
      .filter(row => !told.includes(row))
      .map(({ bytes, module, site }) => `${bytes} ${module} ${site.userFrame?.function}:${site.userFrame?.line}`)
      .slice(0, 20),
  );
  assert.ok(activations.length > 10);
  for (const key of lines.keys()) assert.match(key, /^compiled_model\.py:\d+ (Block|Model)?\.?forward$/);
  assert.ok(sum(right) >= 0.995 * sum(told));
});
