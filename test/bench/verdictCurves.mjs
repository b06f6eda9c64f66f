// Generated programs with known truth, judged at many moments: node test/bench/verdictCurves.mjs [PROGRAMS] [SVG]
// Each keeps blocks of one line: all of them (a leak), or in a window, a cache, an epoch, a queue, a collector's garbage. Prints how many
// were said to grow by how often they had risen, and by how often they could have been filled; writes the curves as a picture.
import { build } from 'esbuild';
import fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { inRoot } from '../project/root.mjs';

const outfile = inRoot('build/bench/verdictCurves.mjs');
const contents = `export { judgeTrace } from './extension/analysis/findings/verdicts';
export { RunTrace } from './test/unit/verdicts/runTrace'; export { StepRun } from './test/unit/verdicts/stepRun';
export { Random } from './test/unit/verdicts/program';`;
await build({
  stdin: { contents, resolveDir: inRoot('.'), loader: 'ts' },
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
});
const { judgeTrace, RunTrace, StepRun, Random } = await import(outfile);

const [count = '10000', picture = inRoot('test/bench/verdictCurves.svg')] = process.argv.slice(2);
const STEPS = 320;
const RISES = [4, 6, 8, 10, 12, 16, 24, 40, 80];
const FILLED = [0.5, 1, 1.25, 1.5, 2, 3, 4];
const SITE = 1;

const whole = (min, max) => fc.integer({ min, max });
const program = fc.record({
  keeps: fc.constantFrom('all', 'all', 'all', 'all', 'all', 'window', 'cache', 'epoch', 'queue', 'garbage'),
  every: fc.constantFrom(1, 1, 1, 2, 3, 5, 8, 12),
  /** What is due comes with this probability. */
  chance: fc.constantFrom(1, 1, 0.7, 0.4),
  blocks: whole(1, 4),
  /** Sizes differ by up to so much. */
  spread: fc.constantFrom(0, 0, 0.5),
  /** So often one block leaves when others come. */
  leaves: fc.constantFrom(0, 0, 0, 0.3, 0.6),
  /** Blocks of the same line that live for a step or two. */
  passing: whole(0, 3),
  begins: fc.constantFrom(1, 1, 1, 20, 60),
  bound: whole(5, 60),
  seed: whole(1, 2 ** 30),
});

/** Plays a program, and gives at each step end how often it has risen and how often it could have been filled. */
function play(made, watch) {
  const random = new Random(made.seed);
  const run = new StepRun();
  const size = () => 512 * Math.round(200 * (1 + made.spread * (random.next() - 0.5)));
  let [held, passing, rises, brought] = [[], [], 0, 0];
  const give = blocks => blocks.forEach(block => run.free(block));
  for (let step = 1; step <= STEPS; step++) {
    give(passing.splice(0, random.between(0, passing.length)));
    for (let i = 0; i < made.passing; i++) passing.push(run.alloc(SITE, size()));
    if (step >= made.begins && step % made.every === 0 && random.chance(made.chance)) {
      for (let i = 0; i < made.blocks; i++) held.push(run.alloc(SITE, size()));
      rises++;
      brought++;
      if (made.keeps === 'all' && random.chance(made.leaves)) give(held.splice(random.between(0, held.length - 1), 1));
    }
    const most = made.bound * made.blocks;
    if (made.keeps === 'window') give(held.splice(0, Math.max(0, held.length - most)));
    if (made.keeps === 'cache') while (held.length > most) give(held.splice(random.between(0, held.length - 1), 1));
    if (made.keeps === 'queue') give(held.splice(0, random.chance(0.5) ? 2 * made.blocks : 0));
    if (made.keeps === 'garbage' && held.length > most * (0.8 + 0.4 * random.next())) give(held.splice(0));
    if (made.keeps === 'epoch' && brought === made.bound) {
      give(held.splice(0));
      brought = 0;
    }
    run.endStep();
    const filled = (rises * made.blocks) / most;
    if (watch(step, rises, filled, run)) return;
  }
}

const tally = new Map();
function note(curve, at, isNamed) {
  const key = `${curve}\0${at}`;
  const before = tally.get(key) ?? [0, 0];
  tally.set(key, [before[0] + (isNamed ? 1 : 0), before[1] + 1]);
}
const curveOf = ({ keeps, leaves, chance }) =>
  keeps !== 'all' ? keeps : leaves > 0 ? 'leak, some of it leaves' : chance < 1 ? 'leak, by chance' : 'leak, regular';

let [found, leaks, wrong, clean, flickers] = [0, 0, 0, 0, 0];
for (const made of fc.sample(program, { numRuns: Number(count), seed: 1 })) {
  const isLeak = made.keeps === 'all';
  const due = isLeak ? [...RISES] : [...FILLED];
  let [last, wasNamed, turns] = [null, false, 0];
  play(made, (step, rises, filled, run) => {
    let asked = step === STEPS;
    while (due.length > 0 && (isLeak ? rises : filled) >= due[0]) asked = due.shift();
    if (asked === false) return false;
    last = judgeTrace(new RunTrace(run)).sites.get(SITE)?.state === 'growing';
    if (last !== wasNamed) turns++;
    wasNamed = last;
    if (asked !== true) note(curveOf(made), asked, last);
    return false;
  });
  const rose = isLeak && RISES.length - due.length >= 5;
  if (rose) leaks++;
  if (rose && last) found++;
  const full = !isLeak && due.length <= FILLED.length - 5;
  if (full) clean++;
  if (full && last) wrong++;
  if (rose && turns > 1) flickers++;
}

console.log(
  `leaks that had risen 12 times or more: ${found} of ${leaks} named at the end; taken back meanwhile: ${flickers}`,
);
console.log(`without a leak, filled twice or more: ${wrong} of ${clean} said to grow at the end`);
const curves = [...new Set([...tally.keys()].map(key => key.split('\0')[0]))].sort();
for (const curve of curves) {
  const points = (curve.startsWith('leak') ? RISES : FILLED).map(at => [
    at,
    ...(tally.get(`${curve}\0${at}`) ?? [0, 0]),
  ]);
  console.log(`${curve}: ${points.map(([at, some, all]) => `${at}: ${((100 * some) / all).toFixed(1)} %`).join(', ')}`);
}

/** Two panels: leaks by rises, the others by how often they could have been filled. */
function drawing() {
  const COLOURS = ['#0063d3', '#d1691c', '#3a8a3a', '#8a3ab9', '#b03030', '#5a5a5a', '#008b8b', '#7a6000'];
  const panel = (left, title, wanted, xs, unit) => {
    const x = value => left + 40 + (260 * Math.log(value / xs[0])) / Math.log(xs.at(-1) / xs[0]);
    const y = share => 40 + 180 * (1 - share);
    const lines = curves.filter(wanted).map((curve, i) => {
      const points = xs.flatMap(at => {
        const [some, all] = tally.get(`${curve}\0${at}`) ?? [0, 0];
        return all === 0 ? [] : [`${x(at).toFixed(1)},${y(some / all).toFixed(1)}`];
      });
      const colour = COLOURS[i];
      return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(' ')}"/>
<text x="${left + 40}" y="${270 + 16 * i}" fill="${colour}">${curve}</text>`;
    });
    const ticks = xs.map(at => `<text x="${x(at)}" y="238" text-anchor="middle" fill="#555">${at}</text>`);
    const shares = [0, 0.5, 1].map(
      share => `<text x="${left + 34}" y="${y(share) + 4}" text-anchor="end" fill="#555">${100 * share} %</text>
<line x1="${left + 40}" x2="${left + 300}" y1="${y(share)}" y2="${y(share)}" stroke="#ddd"/>`,
    );
    return [
      `<text x="${left + 40}" y="22" font-weight="bold">${title}</text>`,
      ...shares,
      ...ticks,
      ...lines,
      `<text x="${left + 170}" y="254" text-anchor="middle" fill="#555">${unit}</text>`,
    ].join('\n');
  };
  return `<svg xmlns="http://www.w3.org/2000/svg" width="680" height="350" font-family="sans-serif" font-size="11">
<rect width="680" height="350" fill="#fff"/>
${panel(0, 'Leaks: said to grow', curve => curve.startsWith('leak'), RISES, 'rises')}
${panel(340, 'No leak: said to grow (amber)', curve => !curve.startsWith('leak'), FILLED, 'times that it could have been filled')}
</svg>
`;
}
writeFileSync(picture, drawing());
