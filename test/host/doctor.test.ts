// The setup check as a page: each check, its fix, and checking again; by mouse and by keyboard.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { inThemes } from './pageActions';
import { attribute, click, press, texts, until, violations } from './window';

const CHECK = '[data-check]';

describe('Setup check', () => {
  after(() => vscode.commands.executeCommand('workbench.action.closeActiveEditor'));

  const listed = (): Promise<string[]> =>
    until('the checks', async () => {
      const found = await texts(CHECK);
      return found.length > 0 ? found : null;
    });

  it('lists the checks, and how to mend what is missing', async () => {
    await vscode.commands.executeCommand('gpuMemoryTrace.doctor');
    const found = (await listed()).join('\n');
    assert.match(found, /^Trace directory /m);
    assert.doesNotMatch(found, /simulated/);
    assert.equal((await texts('.groups section h2')).length, 2);
    await inThemes('doctor');
  });

  it('leads to what mends a gap, and to the manual', async () => {
    const links = await texts('.links a');
    assert.ok(links.length > 0, 'not all is well on the simulated GPU');
    const labels = () => vscode.window.tabGroups.all.flatMap(group => group.tabs.map(tab => tab.label));
    const leads = {
      'About attaching': /attaching/,
      Requirements: /getting-started/,
      'Choose a Python': /Settings/,
    };
    for (const [name, page] of Object.entries(leads).filter(([name]) => links.some(link => link.startsWith(name)))) {
      await click(`.links a:has-text("${name}")`);
      await until(`the page of ${name}`, () => labels().some(label => page.test(label)));
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      await vscode.commands.executeCommand('gpuMemoryTrace.doctor');
    }
  });

  it('looks again by mouse and by keyboard', async () => {
    await click('[data-action=check-again]');
    await listed();
    await press('[data-action=check-again]', 'Enter');
    const found = await listed();
    const possible = !/no GPU|no libcuda/.test(found.join());
    assert.equal(await attribute('.groups section', 'data-possible'), String(possible));
  });

  it('can be read by screen readers', async () => {
    assert.deepEqual(await violations('.groups'), []);
  });
});

describe('The walkthrough', () => {
  const STEPS = '.getting-started-step';
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('shows its steps, each with a picture, by mouse and by keyboard', async () => {
    await vscode.commands.executeCommand('workbench.action.openWalkthrough', 'gpu-memory-trace.gpu-memory-trace#start');
    await until('the steps', async () => (await texts(STEPS)).length >= 3);
    const isChosen = async (number: number): Promise<boolean> =>
      /\bexpanded\b/.test((await attribute(`${STEPS}:nth-of-type(${number})`, 'class')) ?? '');
    await click(`${STEPS}:nth-of-type(2)`);
    await until('step 2', () => isChosen(2));
    // A key that comes while the list still moves is lost, also a user's.
    await until('a key', async () => {
      await press(`${STEPS}:nth-of-type(1)`, 'Enter');
      return isChosen(1);
    });
    await inThemes('walkthrough');
  });
});
