// Runs the tests in the extension host: what `extensionTestsPath` names. Those of HOST_FOLDER, where it is set.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Mocha from 'mocha';
import * as vscode from 'vscode';
import { shot } from './window';

async function pictureOfFailure(this: Mocha.Context): Promise<void> {
  const test = this.currentTest;
  if (!test || test.isPassed() || test.isPending()) return;
  await vscode.commands.executeCommand('notifications.showList');
  const name = test.fullTitle().replace(/\W+/g, '-');
  await shot(join(process.env.SCREENSHOTS ?? '', `failed-${name}.png`));
}

/** Keeps the tests whose names hold one of the words, and those before them in their suites: these made what they need. */
function choose(root: Mocha.Suite, words: string[]): void {
  for (const suite of root.suites) {
    const last = suite.tests.findLastIndex(test => words.some(word => test.fullTitle().includes(word)));
    suite.tests = suite.tests.slice(0, last + 1);
  }
  root.suites = root.suites.filter(suite => suite.tests.length > 0);
}

export async function run(): Promise<void> {
  const words = JSON.parse(process.env.HOST_WORDS ?? '[]') as string[];
  const chosen = (process.env.HOST_FILES ?? '').split(' ').filter(Boolean);
  const isChosen = (name: string): boolean => chosen.length === 0 || chosen.includes(name.replace('.test.js', ''));
  const rootHooks = { afterEach: pictureOfFailure };
  const mocha = new Mocha({ ui: 'bdd', timeout: 180_000, color: false, rootHooks });
  const folder = process.env.HOST_FOLDER ?? __dirname;
  const files = readdirSync(folder).filter(name => name.endsWith('.test.js') && isChosen(name));
  for (const name of files.sort()) mocha.addFile(join(folder, name));
  if (words.length > 0) mocha.suite.on('post-require', () => choose(mocha.suite, words));
  const results = { passed: 0, failed: 0, skipped: [] as string[], notes: [] as string[] };
  await new Promise<void>((done, fail) => {
    const runner = mocha.run(failures => {
      if (process.env.HOST_RESULTS) writeFileSync(process.env.HOST_RESULTS, JSON.stringify(results));
      if (failures > 0) fail(new Error(`${failures} tests failed.`));
      else done();
    });
    runner.on('pass', () => results.passed++);
    runner.on('fail', (test, error: Error) => {
      results.failed++;
      results.notes.push(`failed: ${test.fullTitle()}: ${error.message.split('\n')[0]}`);
    });
    runner.on('pending', test => results.skipped.push(test.fullTitle()));
  });
}
