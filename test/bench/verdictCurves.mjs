// Generated programs with known truth, judged at many moments: node test/bench/verdictCurves.mjs [PROGRAMS] [SVG]
// Prints how many were said to grow by how often they had risen, and by how often they could have been filled; writes the curves as a picture.
import { writeFileSync } from 'node:fs';
import { inRoot } from '../project/root.mjs';
import { FILLED, judgeMoments, programs, RISES } from './generatedPrograms.mjs';

const [count = '10000', picture = inRoot('test/bench/verdictCurves.svg')] = process.argv.slice(2);

const tally = new Map();
function note(curve, at, isNamed) {
  const key = `${curve}\0${at}`;
  const before = tally.get(key) ?? [0, 0];
  tally.set(key, [before[0] + (isNamed ? 1 : 0), before[1] + 1]);
}
const curveOf = ({ keeps, leaves, chance }) =>
  keeps !== 'all' ? keeps : leaves > 0 ? 'leak, some of it leaves' : chance < 1 ? 'leak, by chance' : 'leak, regular';

let [found, leaks, wrong, clean, flickers] = [0, 0, 0, 0, 0];
for (const made of programs(count)) {
  let [last, wasNamed, turns] = [null, false, 0];
  const { isLeak, far } = judgeMoments(made, (at, _step, isNamed) => {
    last = isNamed();
    if (last !== wasNamed) turns++;
    wasNamed = last;
    if (at !== null) note(curveOf(made), at, last);
  });
  if (!far) continue;
  if (isLeak) leaks++;
  else clean++;
  if (isLeak && last) found++;
  if (!isLeak && last) wrong++;
  if (isLeak && turns > 1) flickers++;
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
