// Runs the tests in the extension host: what `extensionTestsPath` names.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Mocha from 'mocha';
import { shot } from './window';

/** The window's own widgets lose a click now and then on a busy machine: a test gets a second try, and the sum names it. */
const SECOND_TRIES = 1;

async function pictureOfFailure(this: Mocha.Context): Promise<void> {
  const test = this.currentTest;
  if (!test || test.isPassed() || test.isPending()) return;
  const name = test.fullTitle().replace(/\W+/g, '-');
  await shot(join(process.env.SCREENSHOTS ?? '', `failed-${name}.png`));
}

export async function run(): Promise<void> {
  const grep = process.env.HOST_GREP ?? '';
  const rootHooks = { afterEach: pictureOfFailure };
  const mocha = new Mocha({ ui: 'bdd', timeout: 60_000, color: false, grep, retries: SECOND_TRIES, rootHooks });
  for (const name of readdirSync(__dirname).sort()) if (name.endsWith('.test.js')) mocha.addFile(join(__dirname, name));
  const results = { passed: 0, failed: 0, skipped: [] as string[], notes: [] as string[] };
  await new Promise<void>((done, fail) => {
    const runner = mocha.run(failures => {
      if (process.env.HOST_RESULTS) writeFileSync(process.env.HOST_RESULTS, JSON.stringify(results));
      if (failures > 0) fail(new Error(`${failures} tests failed.`));
      else done();
    });
    const note = (what: string, test: Mocha.Runnable, error: Error): void => {
      results.notes.push(`${what}: ${test.fullTitle()}: ${error.message.split('\n')[0]}`);
    };
    runner.on('pass', () => results.passed++);
    runner.on('fail', (test, error: Error) => {
      results.failed++;
      note('failed', test, error);
    });
    runner.on('retry', (test: Mocha.Test, error: Error) => {
      console.log(error.stack ?? error.message);
      note('tried again', test, error);
    });
    runner.on('pending', test => results.skipped.push(test.fullTitle()));
  });
}
