// Arrays of JAX, CuPy, Numba and RMM: what piles up is found with its line and its holder, what does not is not called a leak, results stay.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { jobFile, python } from './traced.mjs';

const cli = join(dirname(fileURLToPath(import.meta.url)), '../../dist/cli.js');
const HOLDERS = {
  list: '__main__.kept',
  dict: '__main__.seen',
  closure: '__main__.later',
  attribute: '__main__.trainer.history',
};
const lines = readFileSync(jobFile('beyond'), 'utf8').split('\n');
const lineOf = mark => lines.findIndex(line => line.endsWith(`# ${mark}`)) + 1;
const libraries = ['jax', 'cupy', 'numba', 'rmm'].filter(library => {
  const asked = `import importlib.util as u; raise SystemExit(u.find_spec('${library}') is None)`;
  return spawnSync(python, ['-c', asked]).status === 0;
});
const folder = mkdtempSync(join(tmpdir(), 'gmt-beyond-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

function started(library, shape, words) {
  // Several programs share the GPU: XLA takes a part of it in advance, as it takes three quarters by itself.
  const env = { ...process.env, GMT_LIBRARY: library, GMT_SHAPE: shape, XLA_PYTHON_CLIENT_MEM_FRACTION: '.06' };
  const child = spawn(words[0], words.slice(1), { env });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].on('data', data => (out[name] += data));
  return new Promise(done => child.on('close', status => done({ status, ...out })));
}

async function traced(library, shape) {
  const report = join(folder, `${library}-${shape}.json`);
  const trace = report.replace('json', 'gputrace');
  const words = [process.execPath, cli, 'run', '--format', 'json', '--report', report, '-o', trace];
  const ran = await started(library, shape, [...words, '--', python, jobFile('beyond')]);
  assert.equal(ran.status, 0, ran.stderr);
  const told = JSON.parse(readFileSync(report, 'utf8'));
  const findings = told.findings.map(({ verdict, layer, headline, place, holder }) => {
    const at = place && `${basename(place.file ?? '')}:${place.line}`;
    return { verdict, layer, headline, at, holder: holder && `${holder.path} ${holder.line}` };
  });
  console.log(`${library} ${shape}: ${JSON.stringify(findings)} ${JSON.stringify(told.steps).slice(0, 80)}`);
  return { stdout: ran.stdout, findings, told, stderr: ran.stderr };
}

for (const library of libraries)
  test(`arrays of ${library}`, { concurrency: 6 }, async t => {
    const both = shape => Promise.all([traced(library, shape), started(library, shape, [python, jobFile('beyond')])]);
    const shapes = Object.entries(HOLDERS).map(([shape, container]) =>
      t.test(shape, async () => {
        const [{ stdout, findings, stderr, told }, plain] = await both(shape);
        assert.equal(stdout, plain.stdout, stderr);
        const leaks = told.findings.filter(({ verdict }) => verdict === 'leak');
        assert.equal(leaks.length, 1, JSON.stringify(findings, null, 1));
        const [{ place, holder }] = leaks;
        assert.equal(place.line, lineOf(`MAKES ${library}`));
        assert.equal(holder?.container, container, JSON.stringify(holder));
        assert.equal(holder.line, lineOf(`KEEPS ${shape}`));
      }),
    );
    for (const shape of ['cache', 'window'])
      shapes.push(
        t.test(`${shape}: no leak`, async () => {
          const [{ stdout, findings }, plain] = await both(shape);
          assert.equal(stdout, plain.stdout);
          // The last rounds make nothing new: to the tracer a cache may have grown until the end.
          assert.ok(!findings.some(({ verdict }) => verdict === 'leak'), JSON.stringify(findings));
        }),
      );
    await Promise.all(shapes);
  });
