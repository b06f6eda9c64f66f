// Who called the driver, on the simulated GPU: memory that a library takes beside the framework's cache bears its name.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Place, python, root, workload } from './launcher';
import { lastLine } from './facts';
import { sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const library = join(root, 'build/native/test/native/inject/libother_test.so');

interface Libraries {
  ledger: { libraries: { path: string; name: string; bytes: number; bytesPerStep: number | null }[] }[];
  sites: { layer: string; library: string; frames: unknown[]; liveBytes: number; verdict: string }[];
  findings: { class: string; library: string | null; place: unknown; title: string }[];
}

test('the ledger names the library and the program, and leaves the cache out', async t => {
  assert.ok(existsSync(library), 'npm run build makes the library of the tests');
  const place = new Place(t);
  const ended = await place.trace([python, workload('libraries'), library]);
  assert.equal(ended.status, 0, ended.stderr);
  const bytes = lastLine<{ library: number; program: number }>(ended);
  const { ledger, sites, findings } = place.readJson<Libraries>('report.json');
  const [own, program, ...more] = ledger[0]?.libraries ?? [];
  const read = JSON.stringify({ ledger, callers: sites.map(site => [site.layer, site.library, site.liveBytes]) });
  assert.deepEqual([own?.path, own?.bytes, own?.bytesPerStep], [library, bytes.library, 1 << 20], read);
  assert.match(basename(program?.path ?? ''), /^(lib)?python/);
  assert.deepEqual([program?.bytes, more], [bytes.program, []]);
  const cache = sites.filter(site => site.layer === 'driver' && basename(site.library) === 'libc10_cuda.so');
  assert.ok(cache.length > 0 && cache.every(site => site.verdict === 'cache'));
  const lineless = sites.find(site => site.layer === 'driver' && site.frames.length === 0);
  assert.equal(lineless?.library, library);
  const leak = findings.find(finding => finding.class === 'driver');
  assert.deepEqual([leak?.library, leak?.place], ['libother_test.so', null]);
  assert.match(leak?.title ?? '', /^libother_test\.so .* 1 MiB /);
  assertSentence(leak?.title);

  const table = await place.run(['report', place.path('t.gputrace')]);
  assert.match(table.stdout, /^ {4}libother_test\.so: 65 MiB \(\+1 MiB /m);
});
