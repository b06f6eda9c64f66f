// Training scripts on a real PyTorch, in VS Code: from the palette to the line that keeps the leak, the fix written there by its action,
// and a second run, which leaks nothing, prints the same and is compared with the first. GMT_TORCH_PYTHON is the Python that runs them.
import * as assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { actionsAt, cursorAt, LEAK, problems } from '../../host/shownLeak';
import { freshPage, INPUT, PAGE, titleOf, workspace } from '../../host/pageActions';
import { attribute, click, fill, keys, press, shows, until, words } from '../../host/window';
import { lineWith, TRAINING } from '../../workloads/trainingScripts.mjs';

const RUN_MS = 120_000;
/** From the palette to the line, and from there, with the fix, to the comparison of a clean second run with the first. */
const [MOST_TO_LINE, MOST_TO_CLEAN] = [3, 2];
/** Its fix is written by the button of the card; those of the others by the quick fix of Problems. */
const BY_BUTTON = 'gan.py';
const FIRST_COMMAND = '.quick-input-list .monaco-list-row:first-child';

/** A Python that leaves what a script prints beside it, in `<script>.printed`; the terminal shows it too. */
function printingPython(): string {
  const path = join(workspace, 'printing-python');
  const lines = ['#!/bin/bash', 'exec > >(tee "$1.printed")', `exec ${process.env.GMT_TORCH_PYTHON} "$@"`, ''];
  writeFileSync(path, lines.join('\n'));
  chmodSync(path, 0o755);
  return path;
}

/** Opens the palette, with the command in its first row. */
async function palette(): Promise<void> {
  await keys('F1');
  const title = titleOf('gpuMemoryTrace.start');
  await until('the palette', () => fill(INPUT, `>${title}`).then(() => true));
  await shows(FIRST_COMMAND, new RegExp(`${title}$`, 'm'));
}

const isPhase = (wanted: string): Promise<true> =>
  until(`the page to be ${wanted}`, async () => ((await attribute(PAGE, 'data-phase')) === wanted) as true, RUN_MS);

/** What the script printed, once its result, the last line, is there. */
const printed = (file: string): Promise<string> =>
  until('the result', () => {
    const text = readFileSync(`${file}.printed`, 'utf8');
    return /^[a-z ]+: [\d.]+\n$/m.test(text) ? text : null;
  });

async function byQuickFix(file: string): Promise<void> {
  const entry = await until('the entry in Problems', () => problems(file)[0]);
  const actions = await actionsAt(file, entry.range);
  const fix = actions.find(({ title }) => title.startsWith('Add .detach()'));
  assert.ok(fix?.edit && fix.isPreferred, actions.map(({ title }) => title).join());
  await vscode.workspace.applyEdit(fix.edit);
}

async function byButton(): Promise<void> {
  await click(`${LEAK} [data-action=apply-fix]`);
}

for (const { name, line, mended } of TRAINING)
  describe(`${name}, trained in VS Code`, function () {
    this.timeout(2 * RUN_MS);
    const file = join(workspace, 'training', name);
    let first = '';

    before(async () => {
      const settings = vscode.workspace.getConfiguration('gpuMemoryTrace');
      await settings.update('pythonPath', printingPython(), vscode.ConfigurationTarget.Workspace);
      await freshPage();
    });

    it(`leads in ${MOST_TO_LINE} clicks and keys from the palette to the line that keeps the leak`, async () => {
      let gestures = 0;
      const gesture = (made: Promise<void>): Promise<void> => made.then(() => void gestures++);
      await vscode.window.showTextDocument(vscode.Uri.file(file));
      await palette();
      await gesture(press(INPUT, 'Enter'));
      await shows('.quick-input-title', new RegExp(`arguments of ${name}`));
      await gesture(press(INPUT, 'Enter'));
      const link = `${LEAK} [data-action=open-holder]`;
      await until('the link', async () => (await words(link)) !== '', RUN_MS);
      await gesture(click(link));
      await cursorAt(file, lineWith(file, line));
      assert.ok(gestures <= MOST_TO_LINE, `${gestures} clicks and keys`);
      await isPhase('ended');
      first = await printed(file);
    });

    it('writes the fix by its action', async () => {
      const document = await vscode.workspace.openTextDocument(file);
      const wanted = document.getText().replace(line, mended);
      await (name === BY_BUTTON ? byButton() : byQuickFix(file));
      await until('the fix', () => document.getText() === wanted);
      await until('the entry in Problems to go', () => problems(file).length === 0);
    });

    it(`leaks nothing in a second run, prints the same and is compared with the first, ${MOST_TO_CLEAN} clicks later`, async () => {
      await click(`${LEAK} [data-action=trace-again]`);
      await isPhase('running');
      await isPhase('ended');
      await shows('[data-standing=clean] [data-value=standing]', / [\d,]+ steps/);
      await shows('[data-value=run-before]', new RegExp(`^${name}:\\d+ no longer grows`, 'm'));
      assert.deepEqual(problems(file), []);
      assert.equal(await printed(file), first);
    });
  });
