// Memory that waits for a stream, by the command line: the finding, the row in the table, the figures. PyTorch is a stand-in.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Report } from '../../../extension/report/documents/reportDocument';
import { DRIVER_SCRIPT, Place, python, root } from '../launcher';
import { linesOf, sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const agentTests = join(root, 'test/native/agent/programs');
const environment = { PYTHONPATH: `${join(agentTests, 'standin')}:${agentTests}` };
const MB = 1 << 20;

/** Each step gives a block back at once; `waiting` bytes of such are still in use by another stream. */
const script = (waiting: string): string => `${DRIVER_SCRIPT}
import torch, tracing
def wait_for_stream(waiting):
    torch.allocator_stats[0] = {"allocated_bytes": torch.stat(512), "active_bytes": torch.stat(512 + waiting)}
segment = alloc(2 << 20)
assert tracing.begin()
optimizer = torch.optim.Optimizer()
for step in range(1, 41):
    tracing.report(0x100000, 4096)
    time.sleep(0.005)
    tracing.report(0x100000, -4096)
    wait_for_stream(${waiting})
    optimizer.step()
`;

async function trained(place: Place, waiting: string): Promise<Report> {
  const file = place.write('train.py', script(waiting));
  const { status, stderr } = await place.trace([python, file], environment);
  assert.equal(status, 0, stderr);
  return place.readJson<Report>('report.json');
}

test('much waits for a stream, step after step: a finding that is no leak, a row, the bytes', async t => {
  const place = new Place(t);
  const report = await trained(place, '64 << 20');
  assert.equal(report.ledger[0]?.pendingBytes, 64 * MB);
  assert.deepEqual(
    report.findings.map(finding => finding.verdict),
    ['pending'],
  );
  assertSentence(report.findings[0]?.title);
  const table = await place.run(['report', place.path('t.gputrace')]);
  assert.equal(table.status, 0);
  assertSentence(linesOf(table.stdout, / gpu_0: 64 MiB /));
  assertSentence(/^UNUSED CACHE: .*\n.*/m.exec(table.stdout)?.[0]);
});

test('nothing waits: nothing is said', async t => {
  const place = new Place(t);
  const report = await trained(place, '0');
  assert.deepEqual([report.ledger[0]?.pendingBytes, report.findings.length], [0, 0]);
  const { stdout } = await place.run(['report', place.path('t.gputrace')]);
  assert.doesNotMatch(stdout, /waiting for/);
});
