// Programs that keep memory, and programs that only seem to, on the simulated GPU: verdict, line, exit status.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Report } from '../../extension/report/documents/reportDocument';
import { LONG } from '../long.mjs';
import { DRIVER_SCRIPT, Place, python, workload } from './launcher';
import { sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const file = workload('kept');
const source = readFileSync(file, 'utf8');
const cases = (list: string): string[] =>
  new RegExp(`^${list} = \\[([^\\]]*)\\]`, 'm').exec(source)?.[1]?.match(/\w+/g) ?? [];
/** Some of them; the long run has all. */
const chosen = (list: string): string[] => cases(list).filter((_, i) => LONG || i % 3 === 0);
/** The line that keeps, from 1; 0: none is named. */
const leakLine = (name: string): number => source.split('\n').findIndex(line => line.endsWith(`# LEAK ${name}`)) + 1;

async function judged(place: Place, name: string): Promise<{ status: number | null; stderr: string; report: Report }> {
  const words = ['run', '--simulate-gpu', '--format', 'none', '--report', place.path('report.json'), '--fail-on-leak'];
  const { status, stderr } = await place.run([...words, '--', python, file, name]);
  return { status, stderr, report: place.readJson<Report>('report.json') };
}

let [named, right] = [0, 0];

for (const name of chosen('LEAKS')) {
  test(`${name} leaks at the line that keeps, and the run fails`, async t => {
    const { status, stderr, report } = await judged(new Place(t), name);
    const leaks = report.findings.filter(finding => finding.verdict === 'leak');
    named += leaks.length;
    right += leaks.filter(finding => finding.place?.line === leakLine(name)).length;
    assert.deepEqual(
      leaks.map(finding => finding.place?.line),
      [leakLine(name)],
      leaks.map(finding => finding.title).join('\n'),
    );
    assert.equal(status, 3);
    assert.match(stderr, /^LEAK: kept\.py:[^]*\nExit status 3: .* \(--fail-on-leak\)\.\n$/);
    assert.equal(report.steps.source, 'periodic');
  });
}

for (const name of chosen('CLEAN')) {
  test(`${name} does not leak, and the run ends as it ended`, async t => {
    const { status, report } = await judged(new Place(t), name);
    const leaks = report.findings.filter(finding => finding.verdict === 'leak');
    named += leaks.length;
    assert.deepEqual(
      leaks.map(finding => finding.title),
      [],
    );
    assert.equal(status, 0);
  });
}

test('a run that is too short to tell says so, where it was to fail by a leak', async t => {
  const place = new Place(t);
  const short = place.write('short.py', `${DRIVER_SCRIPT}for step in range(3): free(alloc(4096))\n`);
  const words = ['run', '--simulate-gpu', '--format', 'none', '--fail-on-leak', '--', python, short];
  const { status, stderr } = await place.run(words);
  assert.equal(status, 0);
  assertSentence(stderr);
});

test('precision and recall of these', t => {
  const leaks = cases('LEAKS').length;
  assert.ok(leaks >= 10 && cases('CLEAN').length >= leaks);
  t.diagnostic(`precision ${right}/${named}, recall ${right}/${chosen('LEAKS').length}`);
});
