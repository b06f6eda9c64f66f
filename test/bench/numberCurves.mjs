// What becomes of the verdicts when one number of the judgement of growth is another one: node test/bench/numberCurves.mjs [PROGRAMS] [SVG] [NUMBER …]
// Each is varied by itself, the same generated programs are judged with each, and a table and a picture show that none of them stands at a cliff.
import { writeFileSync } from 'node:fs';
import { inRoot } from '../project/root.mjs';
import { judgeMoments, programs, THRESHOLDS } from './generatedPrograms.mjs';

const FACTORS = [0.5, 0.75, 1, 4 / 3, 2];
const GROWTH = ['few', 'most', 'part', 'rare', 'chance', 'thinning', 'drift', 'parts'];

const [count = '1000', picture = inRoot('test/bench/numberCurves.svg'), ...names] = process.argv.slice(2);
const numbers = names.length > 0 ? names : GROWTH;
const variants = numbers.flatMap(name => FACTORS.map(factor => ({ name, factor, value: valueOf(name, factor) })));

/** Counts stay whole, and a share is less than all. */
function valueOf(name, factor) {
  const value = THRESHOLDS[name] * factor;
  return ['few', 'many', 'times', 'parts'].includes(name)
    ? Math.round(value)
    : name === 'most'
      ? Math.min(value, 0.9)
      : value;
}

function judgedWith({ name, value }, isNamed) {
  const usual = THRESHOLDS[name];
  THRESHOLDS[name] = value;
  const is = isNamed();
  THRESHOLDS[name] = usual;
  return is;
}

for (const variant of variants) Object.assign(variant, { found: 0, leaks: 0, wrong: 0, clean: 0, steps: [] });
for (const made of programs(count)) {
  const [first, last] = [new Map(), new Map()];
  const { isLeak, far } = judgeMoments(made, (_at, step, isNamed) => {
    let usual;
    for (const variant of variants) {
      const is = variant.factor === 1 ? (usual ??= isNamed()) : judgedWith(variant, isNamed);
      last.set(variant, is);
      if (is && !first.has(variant)) first.set(variant, step - made.begins + 1);
    }
  });
  if (!far) continue;
  for (const variant of variants) {
    const is = last.get(variant);
    if (isLeak) variant.leaks++;
    else variant.clean++;
    if (isLeak && is) variant.found++;
    if (isLeak) variant.steps.push(first.get(variant) ?? Infinity);
    if (!isLeak && is) variant.wrong++;
  }
}
for (const variant of variants) {
  const { found, leaks, wrong, steps } = variant;
  variant.recall = found / leaks;
  variant.precision = found + wrong === 0 ? 1 : found / (found + wrong);
  variant.median = steps.sort((a, b) => a - b)[steps.length >> 1];
}

const percent = share => `${(100 * share).toFixed(1)} %`;
const factorText = factor => (factor === 4 / 3 ? '×4/3' : `×${factor}`);
console.log(`recall, precision, median steps to the verdict; ${variants[0].leaks} leaks, ${variants[0].clean} others`);
console.log(`| number | ${FACTORS.map(factorText).join(' | ')} |\n| --- |${' --- |'.repeat(FACTORS.length)}`);
for (const name of numbers) {
  const own = variants.filter(variant => variant.name === name);
  const cells = own.map(({ value, recall, precision, median }) => {
    return `${+value.toPrecision(3)}: ${percent(recall)}, ${percent(precision)}, ${median}`;
  });
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}

/** A small picture for each number: recall, precision, and how much of a run of 100 steps is left after the verdict. */
function drawing() {
  const [WIDTH, HEIGHT, COLUMNS] = [170, 130, 4];
  const CURVES = [
    ['recall', '#0063d3', variant => variant.recall],
    ['precision', '#3a8a3a', variant => variant.precision],
    ['steps to the verdict, of 100', '#d1691c', variant => Math.min(1, variant.median / 100)],
  ];
  const panels = numbers.map((name, i) => {
    const [left, top] = [WIDTH * (i % COLUMNS) + 12, HEIGHT * Math.floor(i / COLUMNS) + 40];
    const own = variants.filter(variant => variant.name === name);
    const x = factor => left + ((WIDTH - 24) * Math.log2(factor / 0.5)) / 2;
    const y = share => top + 70 * (1 - share);
    const lines = CURVES.map(([, colour, of]) => {
      const points = own.map(variant => `${x(variant.factor).toFixed(1)},${y(of(variant)).toFixed(1)}`);
      return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(' ')}"/>`;
    });
    const ticks = own.map(
      ({ factor, value }) =>
        `<text x="${x(factor)}" y="${top + 84}" text-anchor="middle" fill="#555">${+value.toPrecision(2)}</text>`,
    );
    const frame = `<path stroke="#ddd" fill="none" d="M${left} ${y(1)}H${left + WIDTH - 24}M${left} ${y(0)}H${left + WIDTH - 24}M${x(1)} ${y(1)}V${y(0)}"/>`;
    return [`<text x="${left}" y="${top - 6}" font-weight="bold">${name}</text>`, frame, ...lines, ...ticks].join('\n');
  });
  const key = CURVES.map(([text, colour], i) => `<text x="${12 + 110 * i}" y="16" fill="${colour}">${text}</text>`);
  const height = HEIGHT * Math.ceil(numbers.length / COLUMNS) + 30;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH * COLUMNS}" height="${height}" font-family="sans-serif" font-size="10">
<rect width="100%" height="100%" fill="#fff"/>
${[...key, ...panels].join('\n')}
</svg>
`;
}
writeFileSync(picture, drawing());
