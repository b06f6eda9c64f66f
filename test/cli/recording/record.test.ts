// Recording that is off at first, and is switched from the command line while the program runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DRIVER_SCRIPT, FIRST_LINE, Place, python, type Report } from '../launcher';

const SCRIPT = `${DRIVER_SCRIPT}before = alloc(1 << 20)
print("ready %d" % os.getpid(), flush=True)
for size in (2 << 20, 4 << 20, 8 << 20):
    while not os.path.exists(sys.argv[1] + str(size)): time.sleep(0.01)
    alloc(size)
    print("made %d" % size, flush=True)
`;

test('record switches a program that sleeps on, and off again', async t => {
  const place = new Place(t);
  const script = place.write('job.py', SCRIPT);
  const report = place.path('report.json');
  const words = ['run', '--simulate-gpu', '--start', 'paused', '--format', 'none', '--report', report, '--', python];
  const job = place.start([...words, script, place.path('go')]);
  const [, pid = ''] = await job.printed(/ready (\d+)/);
  const go = async (size: number): Promise<void> => {
    place.write(`go${size}`, '');
    await job.printedText(`made ${size}`);
  };
  const switchTo = async (word: string): Promise<[number | null, string]> => {
    const { status, stdout } = await place.run(['record', pid, word]);
    return [status, stdout.trim()];
  };
  await go(2 << 20);
  assert.deepEqual(await switchTo('on'), [0, 'Recording is on.']);
  assert.deepEqual(await switchTo('on'), [0, 'Recording is on.']);
  await go(4 << 20);
  assert.deepEqual(await switchTo('off'), [0, 'Recording is off.']);
  await go(8 << 20);
  assert.equal((await job.ended).status, 0);
  const { allocations, sites, lost } = place.readJson<Report>('report.json');
  assert.deepEqual(lost, { events: 0, byCause: {} });
  assert.deepEqual(
    allocations.map(({ bytes }) => bytes),
    [4 << 20],
  );
  assert.ok(sites.every(({ frames }) => frames[1]?.line === FIRST_LINE + 4));
  const { status, stderr } = await place.run(['record', pid, 'on']);
  assert.deepEqual([status, stderr.trim().split('\n').length], [1, 1]);
});
