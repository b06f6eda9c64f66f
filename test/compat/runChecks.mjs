// Runs the checks on one environment.
import { run as runTests } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { standInVariables } from '../torch/standIn.mjs';
import { CHECKS, FILES } from './releaseChecks.mjs';

const MOST_MS = 1_500_000;
const quoted = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const sentence = text =>
  text
    .split('\n')
    .find(line => line.trim() !== '')
    ?.trim()
    .slice(0, 200) ?? '';
const isOf = ({ tests }, name) => tests.some(begin => name.startsWith(begin));

/** [{key, result: 'ok' | 'differs' | 'skipped', why}] of a PyTorch as `makeEnvironment` gives it. */
export async function runChecks(torch) {
  let variables;
  try {
    variables = await standInVariables(torch);
  } catch (error) {
    const why = error.message.match(/error: .*/)?.[0] ?? error.message;
    return CHECKS.map(({ key }) => ({
      key,
      result: 'skipped',
      why: `the stand-in does not build: ${why.slice(0, 160)}`,
    }));
  }
  Object.assign(process.env, variables, { GMT_TORCH_PYTHON: torch.python });
  const found = await testResults(CHECKS.flatMap(({ tests }) => tests));
  return CHECKS.map(check => {
    const own = found.filter(({ name }) => isOf(check, name));
    const wrong = own.find(({ result }) => result === 'differs') ?? own.find(({ result }) => result === 'skipped');
    if (own.length < check.tests.length && !wrong)
      return { key: check.key, result: 'skipped', why: 'its test did not run' };
    return { key: check.key, result: wrong?.result ?? 'ok', why: wrong ? `${wrong.name}: ${wrong.why}` : '' };
  });
}

async function testResults(names) {
  const found = [];
  const add = (result, why) => data => {
    if (names.some(begin => data.name.startsWith(begin))) found.push({ name: data.name, result, why: why(data) });
  };
  const stream = runTests({
    files: FILES.map(name => inRoot(`test/torch/${name}.test.mjs`)),
    testNamePatterns: names.map(name => new RegExp(`^${quoted(name)}`)),
    timeout: MOST_MS,
    concurrency: 2,
  });
  stream.on('test:pass', data =>
    data.skip === undefined
      ? add('ok', () => '')(data)
      : /does not match/.test(String(data.skip)) || add('skipped', ({ skip }) => String(skip))(data),
  );
  stream.on(
    'test:fail',
    add('differs', ({ details }) => sentence(String(details.error?.cause?.message ?? details.error?.message ?? ''))),
  );
  for await (const event of stream) void event;
  return found;
}
