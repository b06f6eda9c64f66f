// What the verdicts say at every moment: each trace of FOLDER judged as of the ends of many of its steps, against what is expected of it.
//   node test/bench/verdictMoments.mjs FOLDER EXPECT.json [WORD …]
// A line a program: the first step at which something is called a leak, the steps at which that was wrong, what stands at the end.
import { bundled } from './bundled.mjs';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../project/root.mjs';

const MOMENTS = [4, 6, 8, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 50, 60, 70, 80, 100, 130, 160, 200, 250, 300, 400];
const DETAILS = process.env.DETAILS === '1';

const contents =
  "export { judgeTrace } from './analysis/findings/judgeTrace'; export { loadNative } from './native/addon'; export { isLeak } from './protocol/verdicts';";
const { judgeTrace, loadNative, isLeak } = await bundled('verdictMoments', contents, 'extension');
const { addon, error } = loadNative(inRoot('dist'));
if (error) throw new Error(error);

const [folder, expectFile, ...words] = process.argv.slice(2);
const expectations = JSON.parse(readFileSync(expectFile, 'utf8'));

/** Verdicts of a trace as of a time (ns; undefined: its end). */
async function judged(file, untilNs) {
  const session = addon.open(file, untilNs === undefined ? {} : { untilNs });
  try {
    await session.settle();
    const { findings, steps, sites } = judgeTrace(session);
    const leaks = findings.filter(isLeak);
    const growing = findings.filter(({ verdict }) => verdict === 'rising');
    const waiting = [...sites.values()].filter(({ state }) => state === 'unknown').length;
    return { leaks, growing, waiting, steps, ends: untilNs === undefined ? endsOf(session) : [] };
  } finally {
    session.close();
  }
}

/** Ends of steps of the process with most: [step, ns]. */
function endsOf(session) {
  const [most] = [...session.info().steps].sort((a, b) => b.count - a.count);
  if (!most) return [];
  const axis = session.siteSeries({ process: most.process, layer: 'tensor', from: 0, to: 0, points: 512 });
  return Array.from(axis.last, (step, i) => [step, axis.endNs[i]]).filter(([step]) => step <= most.count);
}

const text = ({ title, confidence, holder }) =>
  `${title} [${confidence.toFixed(2)}${holder ? ` held by ${holder.path}${holder.bound === null ? '' : ` bound ${holder.bound}`}` : ''}]`;
const sum = { leaks: 0, found: 0, none: 0, falseEnd: 0, falseEver: 0, amberLate: 0, redLate: 0 };
for (const name of readdirSync(folder)
  .filter(each => each.endsWith('.gputrace'))
  .sort()) {
  const base = name.replace('.gputrace', '');
  if (words.length > 0 && !words.some(word => base.startsWith(word))) continue;
  const expected = expectations[`${base}.py`]?.verdict;
  if (expected === undefined) continue;
  const end = await judged(join(folder, name));
  const red = [];
  const amber = [];
  for (const [step, ns] of end.ends.filter(([step]) => MOMENTS.includes(step))) {
    const then = await judged(join(folder, name), ns + 1000);
    if (then.leaks.length > 0) red.push(step);
    if (then.leaks.length + then.growing.length > 0) amber.push(step);
    if (DETAILS)
      for (const leak of [...then.leaks, ...then.growing]) console.log(`    ${step}: ${leak.verdict} ${text(leak)}`);
  }
  const isRed = end.leaks.length > 0;
  if (expected === 'leak') {
    sum.leaks++;
    if (isRed) sum.found++;
  } else if (expected === 'none') {
    sum.none++;
    if (isRed) sum.falseEnd++;
    if (isRed || red.length > 0) sum.falseEver++;
  }
  const wrong =
    expected === 'none'
      ? red.length > 0 || isRed
        ? `FALSE at ${red.join(' ')}${isRed ? ' end' : ''}`
        : ''
      : isRed
        ? ''
        : 'MISSED';
  console.log(
    [
      base,
      expected,
      `${end.steps.count} ${end.steps.source}`,
      `red from ${red[0] ?? '-'}`,
      `amber from ${amber[0] ?? '-'}`,
      wrong,
      end.leaks.map(text).join(' | '),
    ].join('; '),
  );
}
console.log(JSON.stringify(sum));
