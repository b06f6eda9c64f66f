// Runs the tests in the extension host: what `extensionTestsPath` names.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Mocha from 'mocha';

export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 60_000, color: false, grep: process.env.HOST_GREP ?? '' });
  for (const name of readdirSync(__dirname).sort()) if (name.endsWith('.test.js')) mocha.addFile(join(__dirname, name));
  const results = { passed: 0, failed: 0, skipped: [] as string[] };
  await new Promise<void>((done, fail) => {
    const runner = mocha.run(failures => {
      if (process.env.HOST_RESULTS) writeFileSync(process.env.HOST_RESULTS, JSON.stringify(results));
      if (failures > 0) fail(new Error(`${failures} tests failed.`));
      else done();
    });
    runner.on('pass', () => results.passed++);
    runner.on('fail', () => results.failed++);
    runner.on('pending', test => results.skipped.push(test.fullTitle()));
  });
}
