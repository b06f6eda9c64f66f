// A running program in VS Code: pausing and resuming, marks and what lies between two of them, its stack, and stopping it;
// by mouse and again by keyboard.
import * as assert from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { FIRST, freshPage, inThemes, reached, rowAt, trace, workspace, writeScript } from './pageActions';
import { attribute, click, fill, press, texts, until } from './window';

const MB = 1 << 20;
const LIBRARY = join(workspace, 'site-packages');
const INPUT = '.quick-input-widget:not([style*="display: none"]) input[type=text]';
const GAP = '[data-gap=paused]:not([hidden])';
const FOLDED = '.details .stack details';
const GROWS = FIRST + 5;
const JOB = `sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/site-packages")
import library
library.outer(lambda: allocate(ctypes.byref(address), ctypes.c_size_t(${64 * MB})))
print("ready", flush=True)
while True:
    allocate(ctypes.byref(address), ctypes.c_size_t(4096))
    with open(__file__ + ".rounds", "a") as rounds: rounds.write(".")
    time.sleep(0.05)
`;

const phase = (expected: string): Promise<true> =>
  until(`the dot ${expected}`, async () => ((await attribute('.dot', 'data-phase')) === expected) as true);
const moments = async (side: 'a' | 'b'): Promise<string[]> => texts(`[data-control=compare-${side}] vscode-option`);
const sums = async (): Promise<string> => (await texts('[data-value=compare-sums]')).join('');

/** Waits until the program went round so many times from now on. */
async function rounds(count: number): Promise<void> {
  const ended = (): number => statSync(join(workspace, 'recorded.py.rounds')).size;
  const from = ended();
  await until(`${count} rounds`, () => ended() >= from + count);
}

async function named(name: string): Promise<void> {
  await until('the question', () => fill(INPUT, name).then(() => true));
  await press(INPUT, 'Enter');
  await until(`the mark ${name}`, async () => (await moments('a')).some(text => text.includes(name)));
}

describe('A running program in VS Code', () => {
  let file = '';
  before(async () => {
    mkdirSync(join(LIBRARY, 'library'), { recursive: true });
    writeFileSync(
      join(LIBRARY, 'library/__init__.py'),
      'def inner(run):\n    return run()\ndef outer(run):\n    return inner(run)\n',
    );
    await freshPage();
    file = writeScript('recorded.py', JOB);
    await trace(file);
    await reached('running');
    await rowAt(file, GROWS);
  });
  after(freshPage);

  it('pauses by mouse and goes on by keyboard; the pause is a gap of the timeline', async () => {
    await click('[data-action=recording]');
    await phase('paused');
    await rounds(14);
    await press('[data-action=recording]', 'Enter');
    await phase('running');
    await until('the gap', async () => (await texts(GAP)).length === 1);
    await press('[data-action=recording]', 'Enter');
    await phase('paused');
    await click('[data-action=recording]');
    await phase('running');
  });

  inLong(it)('marks by mouse and by keyboard, and compares two marks', async () => {
    await click('[data-tab=compare]');
    await click('[data-action=more]');
    await click('[data-item=mark]');
    await named('first');
    await rounds(10);
    await press('[data-action=more]', 'Enter');
    await press('[data-item=mark]', 'Enter');
    await named('second');
    const index = async (name: string): Promise<number> =>
      (await moments('b')).findIndex(text => text.includes(name)) + 1;
    await click('[data-control=compare-a]');
    await click(`[data-control=compare-a] vscode-option:nth-of-type(${await index('first')})`);
    await until('sums', async () => /→/.test(await sums()));
    const untilNow = await sums();
    for (let steps = 1; steps < (await index('second')); steps++) await press('[data-control=compare-b]', 'ArrowDown');
    await until('the moment', async () =>
      /second/.test((await texts('[data-control=compare-b] vscode-option[aria-selected=true]')).join('')),
    );
    await until('other sums', async () => /→/.test(await sums()) && (await sums()) !== untilNow);
    await inThemes('two-marks');
    await click('[data-tab=lines]');
  });

  inLong(it)('folds the frames of libraries: opened by mouse, closed by keyboard; frames are links', async () => {
    const line = FIRST + 2;
    await click(`[data-row][data-line="${line}"]`);
    await press('.list .grid', 'ArrowRight');
    await until('the folded frames', async () => (await texts(`${FOLDED} summary`)).join() === '2 frames in library');
    await click(`${FOLDED} summary`);
    await until('them', async () => (await attribute(FOLDED, 'open')) !== null);
    await press(`${FOLDED} summary`, 'Enter');
    await until('them folded', async () => (await attribute(FOLDED, 'open')) === null);
    await vscode.window.showTextDocument(vscode.Uri.file(writeScript('other.py', '')));
    await press('.details .stack .link', 'Enter');
    await until('the line', () => {
      const editor = vscode.window.activeTextEditor;
      return editor?.document.uri.fsPath === file && editor.selection.active.line === line - 1;
    });
  });

  inLong(it)('stops by mouse, and another one by keyboard', async () => {
    await click('[data-action=stop]');
    await reached('ended');
    assert.equal(await attribute('[data-action=stop]', 'hidden'), '');
    await trace(file);
    await reached('running');
    await press('[data-action=stop]', 'Enter');
    await reached('ended');
  });
});
