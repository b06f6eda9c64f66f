// Traces of planted leaks and their look-alikes, recorded with PyTorch on a GPU (test/gpu/leaks.test.mjs): what the verdicts must
// say of each, and that its growth is named within 20 steps of its beginning; what only fills is called no leak while it does.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parseArguments } from '../../extension/cli/arguments/arguments';
import { report as writeReport } from '../../extension/cli/report/report';
import type { Report } from '../../extension/report/documents/reportDocument';
import { judgeLeaks, type Expected } from './judgeLeaks.mjs';

/** Steps from its beginning in which a leak is named; a rarer one takes so many of its rises. */
const SOON = { steps: 20, rises: 8 };
/** A step at which caches, windows and buffers of these jobs fill for the first time; long runs keep steps together. */
const fillingStep = (steps: number): number => (steps > 1000 ? 32 : 16);
const root = resolve(__dirname, '../../..');
const stored = join(root, 'test/golden/leaks');
const expectations = Object.entries(
  JSON.parse(readFileSync(join(stored, 'expect.json'), 'utf8')) as Record<string, Expected>,
);
let folder = '';

before(() => (folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-golden-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

function unpack(name: string): string {
  const trace = join(folder, `${name}.gputrace`);
  writeFileSync(trace, gunzipSync(readFileSync(join(stored, `${name}.gputrace.gz`))));
  return trace;
}

/** The command line's own report, in this process: a new one for each costs more than the report. */
async function report(trace: string, ...options: string[]): Promise<Report> {
  const document = join(folder, 'report.json');
  const parsed = parseArguments(['report', trace, '--format', 'json', '-o', document, ...options]);
  assert.ok('verb' in parsed && parsed.verb === 'report', JSON.stringify(parsed));
  assert.equal(await writeReport(parsed, join(root, 'dist')), 0);
  return JSON.parse(readFileSync(document, 'utf8')) as Report;
}

test('as many traces without a leak as a third of all are stored', () => {
  const none = expectations.filter(([, { verdict }]) => verdict === 'none');
  assert.ok(none.length * 3 >= expectations.length, `${none.length} of ${expectations.length}`);
});

for (const [file, expected] of expectations) {
  test(`${file}: ${expected.verdict}`, async () => {
    const trace = unpack(file.replace(/\.py$/, ''));
    const whole = await report(trace);
    const judged = judgeLeaks(file, expected, whole);
    assert.equal(judged.got, expected.verdict, judged.titles.join('\n'));
    if (expected.verdict === 'none') {
      const step = fillingStep(whole.steps?.count ?? 0);
      const filling = judgeLeaks(file, expected, await report(trace, '--at', `step:${step}`));
      assert.deepEqual(filling.titles, [], `at step ${step}`);
    }
    if (expected.site === undefined) return;
    assert.equal(judged.titles.length, 1, judged.titles.join('\n'));
    assert.ok(judged.site, judged.titles.join('\n'));
    assert.ok(
      judged.holder !== false && judged.path,
      `${judged.holderText} for ${expected.holderPath} at ${expected.holder}`,
    );
    const soon = (judged.sinceStep ?? 0) + Math.max(SOON.steps, SOON.rises * (judged.period ?? 1));
    const then = await report(trace, '--at', `step:${2 * Math.floor(soon / 2)}`); // long runs keep pairs
    const early = judgeLeaks(file, expected, then, true);
    assert.ok(early.site, `not named by step ${soon}: ${early.titles.join('\n')}`);
  });
}
