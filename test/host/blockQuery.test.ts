// One allocation in VS Code: the program is queried about it. PyTorch is a stand-in.
import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { sentencesOf } from './hostSentences';
import { freshPage, reached, trace, workspace } from './pageActions';
import { click, press, shows, texts, until, violations, words } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const agentTests = join(
  vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '',
  'test/native/agent/programs',
);
const JOB = `import sys, time
sys.path[:0] = ["${agentTests}/standin", "${agentTests}"]
import torch, tracing
addresses = [0x100000 + 0x1000 * i for i in range(5)]
blocks = [{"address": at, "size": 512, "requested_size": 500, "state": "active_allocated"} for at in addresses]
segment = {"device": 0, "address": 0x100000, "stream": 0x5570, "segment_pool_id": (0, 3), "blocks": blocks}
torch._C._cuda_memorySnapshot = lambda pool: {"segments": [segment]}
torch._C._cuda_isHistoryEnabled = lambda: False
torch.cuda.is_initialized = lambda: True
assert tracing.begin()
kept = []
for at in addresses:
    tracing.report(at, 512)
    kept.append(torch.Tensor(at))
while True:
    time.sleep(0.01)
`;

const fact = (name: string): Promise<string> => words(`[data-fact=${name}]`);
const factShows = (name: string, expected: RegExp): Promise<string> => shows(`[data-fact=${name}]`, expected);

describe('One allocation in VS Code, of a program that can be asked', () => {
  before(async () => {
    await freshPage();
    const file = join(workspace, 'ask_block.py');
    writeFileSync(file, JOB);
    await trace(file);
    await reached('running');
    await until('five blocks', async () => {
      await click('[data-row]');
      await press('.list .grid', 'ArrowRight');
      return until(
        'them',
        async () => (await texts('.block-head')).some(text => /5 live blocks|^5 of/.test(text)),
        10_000,
      );
    });
  });
  after(async () => {
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    await reached('ended');
  });

  it('tells what was asked for it, its stream and pool, and who holds it, by mouse', async () => {
    await click('.block-row[data-index="1"]');
    await factShows('asked', /^not recorded$/);
    assert.deepEqual([await fact('stream'), await fact('pool')], ['not recorded', 'not recorded']);
    await click('[data-action=ask-block]');
    await factShows('asked', /^500 B$/);
    assertSentence(await fact('size'));
    assert.equal(await fact('stream'), 'stream 0x5570');
    assertSentence(await fact('pool'));
    await factShows('holder', /__main__\.kept\[\.\.\.\]/);
    assert.deepEqual(await violations('.details'), []);
  });

  inLong(it)('the same by keyboard, of another block', async () => {
    await press('.block-scroller', 'End');
    await press('.block-scroller', 'Enter');
    await factShows('asked', /^not recorded$/);
    await press('[data-action=ask-block]', 'Enter');
    await factShows('asked', /^500 B$/);
    await factShows('holder', /__main__\.kept\[\.\.\.\]/);
  });
});
