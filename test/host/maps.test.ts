// Ledger, details, flame graph and segment map in VS Code, of a job with a caching allocator: by mouse and by keyboard.
import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { freshPage, inThemes, PAGE, reached, rowAt, trace, workspace } from './pageActions';
import { attribute, click, clickAt, press, shows, texts, until, violations, words } from './window';

const MB = 1 << 20;
const JOB = `import time
import gpu

def load():
    return [gpu.empty(24 * gpu.MIB) for _ in range(3)]

def train_step(kept, step):
    activations = [gpu.empty(2 * gpu.MIB) for _ in range(6)]
    kept.append(activations[step % 6])

def main():
    weights = load()
    kept = []
    for step in range(12):
        train_step(kept, step)
        time.sleep(0.05)
    print("ready", flush=True)
    time.sleep(300)

main()
`;
const LOAD = 5;
const STEP = 8;
const LIVE = (3 * 24 + 12 * 2) * MB;
const KINDS = ['tensor', 'pending', 'cached', 'driver', 'rest', 'others', 'untold', 'unknown', 'free'];

const fact = (name: string): Promise<string> => words(`[data-fact=${name}]`);

inLong(describe)('Maps of the memory in VS Code', () => {
  const file = join(workspace, 'maps_job.py');
  const cursorOn = (line: number): Promise<boolean> =>
    until(`the cursor on line ${line}`, () => {
      const editor = vscode.window.activeTextEditor;
      return editor?.document.uri.fsPath === file && editor.selection.active.line === line - 1;
    });
  const elsewhere = async (): Promise<void> => {
    await vscode.window.showTextDocument(vscode.Uri.file(join(workspace, 'gpu.py')));
  };

  before(async () => {
    writeFileSync(file, JOB);
    await freshPage();
    await trace(file);
    await reached('running');
    await until('the rows of tensors', async () => (await attribute(PAGE, 'data-layer')) === 'tensor');
    await rowAt(file, LOAD);
    await rowAt(file, STEP);
  });
  after(async () => {
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    await reached('ended');
  });

  it('the ledger sums to the card, and says what is not known', async () => {
    const bytesOf = async (kind: string): Promise<number> => {
      const found = await attribute(`[data-key=${kind}] [data-bytes]`, 'data-bytes').catch(() => null);
      return Number(found ?? 0);
    };
    await until('all tensors', async () => (await bytesOf('tensor')) === LIVE);
    let sum = 0;
    for (const kind of KINDS)
      if ((await attribute(`[data-key=${kind}]`, 'hidden')) === null) sum += await bytesOf(kind);
    assert.equal(sum, Number(await attribute('.ledger-device', 'data-total-bytes')));
    await click('.ledger-toggle');
    assert.match(await words('.ledger-keys'), /tensors 96 MiB/);
    assert.notEqual(await words('[data-key=unknown]'), '');
    assert.deepEqual(await violations('.ledger'), []);
    await inThemes('ledger');
  });

  it('shows one allocation of a row, by mouse', async () => {
    await click(`[data-row][data-line="${LOAD}"]`);
    await press('.list .grid', 'ArrowRight');
    await shows('.block-head', /3 live blocks/);
    await click('.block-row[data-index="1"]');
    const address = await shows('[data-fact=address]', /^0x[0-9a-f]+$/);
    assert.match(await fact('size'), /^24 MiB \(25,165,824 bytes\), /);
    assert.match(await fact('thread'), /main thread/);
    assert.match(await fact('device'), /cuda:0/);
    await click('[data-action=copy-address]');
    await until('the address on the clipboard', async () => (await vscode.env.clipboard.readText()) === address);
    await elsewhere();
    await click('.details .stack .link');
    await cursorOn(LOAD);
    await inThemes('details');
  });

  inLong(it)('the same by keyboard', async () => {
    await press('.block-scroller', 'Home');
    await press('.block-scroller', 'Enter');
    const first = await shows('[data-fact=address]', /^0x/);
    await press('.block-scroller', 'End');
    await press('.block-scroller', 'Enter');
    await until('another block', async () => (await fact('address')) !== first);
    await press('[data-action=copy-stack]', 'Enter');
    await until('the stack on the clipboard', async () =>
      (await vscode.env.clipboard.readText()).includes('maps_job.py", line 5'),
    );
    assert.deepEqual(await violations('.details'), []);
  });

  inLong(it)('the flame graph zooms and opens a line, by mouse', async () => {
    await click('[data-action=back]');
    await click('[data-tab=flame]');
    const step = '.flame-rect[aria-label^="train_step,"]';
    await shows(step, /train_step/);
    await click(step);
    await shows('[data-value=flame-status]', /^train_step · maps_job\.py:8 · 24 MiB, 25\.0%/);
    assert.equal(await attribute(step, 'data-zoomed'), '');
    await elsewhere();
    await click('[data-action=flame-open]');
    await cursorOn(STEP);
    await click('.flame-rect.whole');
    await until('all again', async () => (await texts('.flame-rect[aria-label^="load,"]')).length === 1);
    await inThemes('flame');
    assert.deepEqual(await violations('.flame'), []);
  });

  inLong(it)('the same by keyboard', async () => {
    await press('[data-tab=flame]', 'ArrowLeft');
    await until('the table', async () => (await attribute('[data-tab=lines]', 'aria-selected')) === 'true');
    await press('[data-tab=lines]', 'ArrowRight');
    const flame = '.flame-scroller';
    await until('the graph', async () => (await texts('.flame-rect[aria-label^="load,"]')).length === 1);
    for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await press(flame, key);
    await shows('[data-value=flame-status]', /^load · /);
    await elsewhere();
    await press(flame, 'Control+Enter');
    await cursorOn(LOAD);
    await press(flame, 'Enter');
    await until('the zoom', async () => (await attribute('.flame-rect[aria-label^="load,"]', 'data-zoomed')) === '');
    await press(flame, 'Escape');
    await until(
      'a wider view',
      async () => (await attribute('.flame-rect[aria-label^="load,"]', 'data-zoomed')) === null,
    );
  });

  inLong(it)('weighs live, peak and churned bytes, by mouse and by keyboard', async () => {
    const control = '[data-control=flame-weight]';
    const whole = (expected: RegExp): Promise<true> =>
      until(`a graph of ${expected}`, async () => {
        const name = (await attribute('.flame-rect.whole', 'aria-label')) ?? '';
        if (expected.test(name)) return true as const;
        throw new Error(name);
      });
    await whole(/96 MiB/);
    await click(control);
    await click(`${control} vscode-option[value=churn]`);
    await whole(/216 MiB/);
    await press(control, 'ArrowUp');
    await whole(/10\d MiB/);
    await press(control, 'ArrowUp');
    await whole(/96 MiB/);
  });

  inLong(it)('a block of the segment map shows its details, by mouse', async () => {
    await click('[data-tab=segments]');
    await shows('[data-value=fragmentation]', /segments hold .* free/);
    await click('[data-action=to-scale]');
    await clickAt('.segment-scroller', 8, 11);
    await shows('[data-value=segment-status]', /maps_job\.py:\d+ .* segment 1 of/);
    await shows('[data-fact=address]', /^0x/);
    assert.match(await words('.details h2'), /maps_job\.py/);
    await click('[data-action=back]');
    await inThemes('segments');
    assert.deepEqual(await violations('.segments'), []);
  });

  inLong(it)('the same by keyboard', async () => {
    const map = '.segment-scroller';
    const seen = await fact('address');
    for (const key of ['PageDown', 'Home']) await press(map, key);
    const status = await shows('[data-value=segment-status]', /segment (?!1 of)/);
    await press(map, 'PageUp');
    await press(map, 'ArrowDown');
    await until('another segment', async () => (await words('[data-value=segment-status]')) !== status);
    await press(map, 'Home');
    await press(map, 'Enter');
    await until('another block', async () => (await fact('address')) !== seen);
    await click('[data-action=back]');
    await elsewhere();
    await press(map, 'Control+Enter');
    await until('the line', () => vscode.window.activeTextEditor?.document.uri.fsPath === file);
  });

  inLong(it)('segments are coloured by line or by age, by mouse and by keyboard', async () => {
    const control = '[data-control=segment-colour]';
    await shows('.segment-keys', /maps_job\.py/);
    await click(control);
    await click(`${control} vscode-option[value=age]`);
    await shows('.segment-keys', /step|older/);
    await press(control, 'ArrowUp');
    await shows('.segment-keys', /maps_job\.py/);
  });
});
