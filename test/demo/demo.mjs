// `npm run demo`: installs, builds, and traces the sample script: on the real GPU where one works, else on the
// simulated one, which runs no PyTorch: what that adds is shown of the recorded sample. Ends by itself. `-- --code` opens the same job in
// a VS Code with the extension instead.
import { mkdirSync } from 'node:fs';
import { build } from '../project/build.mjs';
import { inRoot, run, which } from '../project/root.mjs';
import { realGpu } from './gpu.mjs';

const trace = 'build/sample.gputrace';
const sample = 'media/sample/finetune.gputrace';
const python = which('python3');
if (!python) {
  console.error('Python 3 is missing: install python3 (Debian: apt-get install python3).');
  process.exit(1);
}
try {
  await build();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
mkdirSync(inRoot('build'), { recursive: true });
const gpu = process.argv.includes('--simulate-gpu') ? null : await realGpu(python);
console.log(gpu ? `GPU: ${gpu}` : 'No working GPU was found here: the sample runs on the simulated one.');

if (process.argv.includes('--code')) {
  const { demoInCode } = await import('./demoInCode.mjs');
  process.exit(
    await demoInCode({ simulate: !gpu }).catch(error => {
      console.error(error.message);
      return 1;
    }),
  );
}
const flags = ['run', '--interval', '1s', '-o', trace, ...(gpu ? [] : ['--simulate-gpu'])];
const { code } = await run(process.execPath, ['dist/cli.js', ...flags, '--', python, 'test/workloads/sample_train.py']);
if (code === 0 && !gpu) {
  console.log('\nA run of PyTorch that was recorded on a GPU has holders, fixes and modules too:');
  await run(process.execPath, ['dist/cli.js', 'report', sample, '--group-by', 'module-path']);
}
if (code === 0) {
  console.log(`\nThe trace is saved in ${trace}. Look at it again, by line:`);
  console.log(`  node dist/cli.js report ${trace} --group-by line`);
  console.log('The same job in VS Code:\n  npm run demo -- --code');
}
process.exit(code);
