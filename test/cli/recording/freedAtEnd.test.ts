// A program that works in a function frees all of it when that returns: what is shown of it is the end of its last step.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Report } from '../../../extension/report/documents/reportDocument';
import { Place, python, root, workload } from '../launcher';
import { withoutNumbers } from '../../masked.mjs';
import { linesOf, sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const agentTests = join(root, 'test/native/agent/programs');
const environment = {
  PYTHONPATH: `${join(agentTests, 'standin')}:${agentTests}`,
  GPU_MEMTRACE_AGENT_DEVICES: 'all', // the stand-in's tensors are on no device
};
const job = workload('emptied');
type ShownMoment = { shownMoment?: { atSeconds: number; step: number | null; liveBytes: number } };

interface Run {
  place: Place;
  stderr: string;
  report: Report & ShownMoment;
}

async function traced(t: TestContext, how: string, options: string[] = []): Promise<Run> {
  const place = new Place(t);
  const words = ['run', '--simulate-gpu', '-o', place.path('t.gputrace'), '--report', place.path('report.json')];
  const { status, stderr } = await place.run([...words, ...options, '--', python, job, how], environment);
  assert.equal(status, 0, stderr);
  return { place, stderr, report: place.readJson('report.json') };
}

const LAST_STEP = '\nAs of ';
const lastTable = (text: string): string => text.slice(text.lastIndexOf(LAST_STEP));

test('the last table, and that of a saved trace, show the end of the last step; the document stays that of the end', async t => {
  const { place, stderr, report } = await traced(t, '');
  const trace = place.path('t.gputrace');
  const { stdout } = await place.run(['report', trace]);
  for (const text of [stderr, stdout]) {
    assert.equal(text.split(LAST_STEP).length, 2, text);
    assertSentence(linesOf(text, /^As of/));
    assert.match(lastTable(text), /^TOTAL LIVE: 30 KiB\n {2}tensor layer, gpu_0: 30 KiB in 60/m);
    assert.match(lastTable(text), /30 KiB in 60 +\+512 B\/step +leak +tracing\.py:\d+ report/);
  }
  const blocks = await place.run(['report', trace, '--blocks']);
  assert.match(lastTable(blocks.stdout), /0x100000:gpu_0: 512 B/);
  assert.equal(report.totals.find(({ layer }) => layer === 'tensor')?.liveBytes, 0);
  assert.deepEqual([report.shownMoment?.step, report.shownMoment?.liveBytes], [60, 60 * 512]);
});

test('the peak is that of the whole run, also where it came after the last step', async t => {
  const place = new Place(t);
  const script = place.write(
    'late.py',
    `import runpy, sys, tracing
sys.argv = ["emptied.py"]
runpy.run_path(${JSON.stringify(job)}, run_name="__main__")
tracing.report(0x900000, 1 << 20)
tracing.report(0x900000, -(1 << 20))
`,
  );
  const { stderr } = await place.run(['run', '--simulate-gpu', '--', python, script], environment);
  assert.match(lastTable(stderr), /^ {2}tensor layer, gpu_0: 30 KiB in 60 blocks, peak 1 MiB,/m);
});

test('a moment that the user names is shown instead, and what still lives at the end needs none', async t => {
  const { place } = await traced(t, '');
  const trace = place.path('t.gputrace');
  const { stdout } = await place.run(['report', trace, '--at', 'step:20']);
  const early = await place.run(['report', trace, '--at', 'step:2']);
  assert.match(early.stdout, /^(No training step|Needs \d+ more)/m);
  assert.match(stdout, /^TOTAL LIVE: 10 KiB$/m);
  assert.doesNotMatch(stdout, /As of/);
  assertSentence(linesOf(stdout, /^(AT|Findings)/));
  const span = await place.run(['report', trace, '--between', 'step:20', 'peak']);
  assertSentence(linesOf(span.stdout, /^(BETWEEN|Findings)/));
  const end = await place.run(['report', trace, '--at', '100%']);
  assert.match(end.stdout, /^TOTAL LIVE: 0 B$/m);
  const left = await traced(t, 'keep');
  assert.doesNotMatch(left.stderr, /As of/);
  assert.match(left.stderr, /^TOTAL LIVE: 10 KiB$/m);
  assert.equal(left.report.shownMoment, undefined);
});

test('whole runs are compared, from the base to the new one, as their reports show them; a moment that is named is taken as it is', async t => {
  const [one, other] = [
    (await traced(t, '')).place.path('t.gputrace'),
    (await traced(t, 'keep')).place.path('t.gputrace'),
  ];
  const place = new Place(t);
  const { stdout } = await place.run(['report', other, '--compare', one]);
  assert.ok(stdout.includes(`A  ${one} `) && stdout.includes(`B  ${other},`), stdout);
  assertSentence(linesOf(stdout, /^[AB] /));
  assert.match(stdout, /^tensor layer: 30 KiB -> 10 KiB/m);
  const back = await place.run(['report', one, '--compare', other, '--format', 'json']);
  const { bytesB, b } = JSON.parse(back.stdout) as { bytesB: number; b: { shownMoment?: { step: number } } };
  assert.deepEqual([bytesB, b.shownMoment?.step], [60 * 512, 60]);
  const named = await place.run(['report', one, '--at', '100%', '--compare', one]);
  assert.match(named.stdout, /^B {2}.* 100% \([\d.]+ m?s\)\n.*: 30 KiB -> 0 B/m);
});

test('a program that is killed is shown as it was then', async t => {
  const place = new Place(t);
  const trace = place.path('t.gputrace');
  const words = ['run', '--simulate-gpu', '-o', trace, '--', python, job, 'kill'];
  const { status, stderr } = await place.run(words, environment);
  assert.equal(status, 128 + 9);
  const { stdout } = await place.run(['report', trace]);
  for (const output of [stderr, stdout]) assertSentence(linesOf(output, /SIGKILL/));
  assert.match(stderr, /^TOTAL LIVE: 30 KiB$/m);
  assert.doesNotMatch(stderr, /As of/);
});

test('the program is asked by itself, once, who holds what leaks, and keeps its status; the trace keeps the answer', async t => {
  const { place, stderr, report } = await traced(t, 'slow');
  const [leak] = report.findings;
  assert.equal(leak?.holder?.path, 'main().kept[...]', stderr);
  assert.equal(
    leak.holder.line,
    readFileSync(job, 'utf8')
      .split('\n')
      .findIndex(line => line.endsWith('# HOLD')) + 1,
  );
  assert.ok((leak.holder.asked?.pauseMs ?? 0) > 0);
  const heldBy = /^ {2}Held by main\(\)\.kept\[\.\.\.\] .*\n {2}The holder was found .* [\d,]+ ms\.$/m;
  assert.match(stderr.slice(stderr.lastIndexOf('LEAK:')), heldBy);
  const { stdout } = await place.run(['report', place.path('t.gputrace')]);
  assert.match(stdout, heldBy);
  assertSentence(withoutNumbers(linesOf(stdout, /^As of/)));
  const holders = await place.run(['holders', place.path('t.gputrace')]);
  assert.match(holders.stdout, /main\(\)\.kept/);
  assertSentence(withoutNumbers(linesOf(holders.stdout, /Found/)));
});

test('a program that is not to be stopped is not, also not at its end', async t => {
  const holder = async (...options: string[]): Promise<string | undefined> => {
    const { report, stderr } = await traced(t, 'keep', options);
    assert.equal(report.findings.length, 1, stderr);
    return report.findings[0]?.holder?.path;
  };
  assert.equal(await holder(), '__main__.left[...]');
  assert.equal(await holder('--holders', 'never'), undefined);
});

test('without steps it is the peak', async t => {
  const place = new Place(t);
  const script = `import tracing
tracing.begin(0)
for number in range(3):
    tracing.report(0x100000 + 0x1000 * number, 4096)
for number in range(3):
    tracing.report(0x100000 + 0x1000 * number, -4096)
tracing.report(0x1000, -512)
`;
  const { stderr } = await place.run(['run', '--simulate-gpu', '--', python, place.write('t.py', script)], environment);
  assertSentence(linesOf(stderr, /^As of/));
  assert.match(stderr, /^TOTAL LIVE: 12\.50 KiB$/m);
});
