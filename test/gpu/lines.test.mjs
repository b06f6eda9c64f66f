import assert from 'node:assert/strict';
import { test } from 'node:test';

import { jobFile, liveByAddress, runTraced } from './traced.mjs';

const MOST_FRAMES = 128;

/** Those whose frames, file and line, are not PyTorch's own: { forward: how many have some, wrong }. */
function compared({ report, truth }) {
  const live = liveByAddress(report, 'tensor');
  const forward = truth.blocks.filter(block => block.frames.length > 0);
  const wrong = [];
  for (const block of forward) {
    const frames = live.get(block.address)?.site?.frames.map(frame => [frame.file, frame.line]) ?? null;
    const wanted = block.frames.slice(0, MOST_FRAMES).map(([file, line]) => [file, line]);
    if (JSON.stringify(frames) !== JSON.stringify(wanted)) wrong.push({ block, frames });
  }
  console.log(
    `${forward.length - wrong.length} of ${forward.length} blocks agree, frame by frame; ${truth.blocks.length} live`,
  );
  return { forward: forward.length, wrong };
}

for (const [job, least] of [
  ['pytorch_history', 500],
  ['patterns', 20_000],
])
  test(`${job}: every live block has the stack that PyTorch recorded for it`, () => {
    const traced = runTraced(job);
    assert.equal(traced.status, 0, traced.stderr);
    const { forward, wrong } = compared(traced);
    assert.ok(forward > least);
    assert.equal(wrong.length, 0, JSON.stringify(wrong[0], null, 1));
  });

test('gradients belong to the forward line whose node allocated them', () => {
  const { report, truth } = runTraced('backward_lines');
  const live = liveByAddress(report, 'tensor');
  const wrong = [];
  let seen = 0;
  for (const [address, line, what] of truth.expected) {
    const site = live.get(address)?.site;
    if (!site || !['forward', 'forward-near', 'backward-call'].includes(site.lineSource)) continue;
    seen++;
    if (site.userFrame?.file !== jobFile('backward_lines') || site.userFrame.line !== line)
      wrong.push([what, line, site.lineSource, site.userFrame]);
  }
  console.log(`${seen - wrong.length} of ${seen} gradients on their forward line (${truth.expected.length} hooked)`);
  assert.ok(seen >= truth.expected.length / 2);
  assert.deepEqual(wrong, []);
});

test('a transformer step: at least 95 % of backward bytes have a line', () => {
  const { report } = runTraced('backward_share');
  const bytes = {};
  for (const site of report.sites.filter(each => each.layer === 'tensor')) {
    bytes[site.lineSource] = (bytes[site.lineSource] ?? 0) + site.allocatedBytes;
  }
  const tied = (bytes.forward ?? 0) + (bytes['forward-near'] ?? 0) + (bytes['backward-call'] ?? 0);
  const share = tied / (tied + (bytes.none ?? 0));
  console.log(
    `backward bytes by how the line was found: ${JSON.stringify(bytes)}; ${(share * 100).toFixed(2)} % have one`,
  );
  assert.ok(tied > 0 && share >= 0.95);
});

test('frames through sorted(key=), a builtin as classmethod and a thread that was blocked; profiling hooks stay free', () => {
  const { report, truth, status, stderr } = runTraced('stacks_through_c');
  assert.equal(status, 0, stderr);
  const live = liveByAddress(report, 'tensor');
  for (const [address, line] of truth.expected) {
    const frames = live.get(address).site.frames;
    assert.match(frames[0].function, /keep$/);
    assert.deepEqual([frames[1].file, frames[1].line], [jobFile('stacks_through_c'), line]);
  }
  assert.ok(truth.profile && truth.calls > 0);
  if (truth.tools) assert.deepEqual(truth.tools, [null, null, null, null, null, null]);
  if (truth.tools) assert.ok(truth.monitored.includes('make'));
});

test('recording stopped and started twice: what was recorded has its line, what was not has none', () => {
  const { report, truth } = runTraced('paused');
  const live = liveByAddress(report, 'tensor');
  for (const [address, line, what] of truth.recorded) assert.equal(live.get(address)?.site.userFrame.line, line, what);
  for (const address of truth.hidden)
    assert.equal(live.get(address)?.site.lineSource ?? 'before-attach', 'before-attach');
});
