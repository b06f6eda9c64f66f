// Names and layouts in the libraries of one wheel, which is not run: a build for GPUs needs none here.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inRoot, must, run } from '../project/root.mjs';
import { LAYOUTS, NAMES } from './wheelFacts.mjs';

const TAKEN = [...new Set(NAMES.map(({ library }) => `torch/lib/${library}`)), 'torch/include/*'];
const PYTHONS = ['3.12', '3.11', '3.10', '3.9', '3.13'];

/** The wheel at this path, or of this release: downloaded for the first Python that has one, for CUDA where the index has that. */
async function wheelOf(named, folder) {
  if (existsSync(named)) return { wheel: named };
  const release = /^\d+\.\d+$/.test(named) ? `${named}.*` : named;
  let last = '';
  for (const python of PYTHONS) {
    const words = [
      '--no-deps',
      '-q',
      '--no-cache-dir',
      '--only-binary=:all:',
      '--python-version',
      python,
      '-d',
      folder,
    ];
    const { code, output } = await run('python3', ['-m', 'pip', 'download', ...words, `torch==${release}`], {
      quiet: true,
    });
    const file = readdirSync(folder).find(name => name.endsWith('.whl'));
    if (code === 0 && file) return { wheel: join(folder, file), downloaded: true };
    last = output.match(/^ERROR: .*/m)?.[0] ?? last;
  }
  throw new Error(last);
}

/** What each library exports, and what it imports through a slot: {exported, imported} of sets. */
async function symbolsOf(file) {
  const table = await must('readelf', ['-W', '--dyn-syms', file]);
  const slots = await must('readelf', ['-W', '-r', file]);
  const exported = new Set();
  for (const line of table.split('\n')) {
    const [, , , , binding, , place, name] = line.trim().split(/\s+/);
    if (name && place !== 'UND' && binding !== 'LOCAL') exported.add(name.split('@')[0]);
  }
  const imported = new Set(
    [...slots.matchAll(/R_X86_64_(?:JUMP_SLO|JUMP_SLOT|GLOB_DAT)\s+\S+\s+(\S+?)(?:@\S+)? \+ 0$/gm)].map(
      ([, name]) => name,
    ),
  );
  return { exported, imported };
}

const holds = (names, wanted) =>
  wanted.endsWith('*') ? [...names].some(name => name.startsWith(wanted.slice(0, -1))) : names.has(wanted);

/** Rows {what, library, result, why}. */
async function checkNames(folder) {
  const read = new Map();
  const rows = [];
  for (const { of, what, library, any, imported = false } of NAMES) {
    const file = join(folder, 'torch/lib', library);
    if (!existsSync(file)) {
      rows.push({ of, what, library, result: 'skipped', why: 'this build has no such library' });
      continue;
    }
    if (!read.has(library)) read.set(library, await symbolsOf(file));
    const names = read.get(library)[imported ? 'imported' : 'exported'];
    const found = any.find(name => holds(names, name));
    rows.push({ of, what, library, result: found ? 'ok' : 'differs', why: found ? '' : `no ${any.join(', no ')}` });
  }
  return rows;
}

/** Values that the compiler finds in the wheel's headers; undefined: they cannot be compiled here. */
async function headerValues(folder, standard) {
  const source = join(folder, 'facts.cpp');
  const values = LAYOUTS.map(([, , expression]) => expression).join(', ');
  writeFileSync(
    source,
    `#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <unordered_map>
#include <vector>
#define private public
#define protected public
#include <torch/csrc/autograd/function.h>
using torch::autograd::Node;
template <unsigned long... values> struct gmt_facts;
gmt_facts<${values}> found;
`,
  );
  const include = join(folder, 'torch/include');
  const words = [
    '-fsyntax-only',
    '-w',
    `-std=c++${standard}`,
    `-I${include}`,
    `-I${include}/torch/csrc/api/include`,
    source,
  ];
  const { output } = await run(process.env.CXX ?? 'c++', words, { quiet: true });
  return /gmt_facts<([^>]*)>/
    .exec(output)?.[1]
    .split(',')
    .map(text => parseInt(text, 10));
}

async function checkLayouts(folder) {
  const values = (await headerValues(folder, 20)) ?? (await headerValues(folder, 17));
  return LAYOUTS.map(([of, what, , known], at) => {
    const result = values === undefined ? 'skipped' : known.includes(values[at]) ? 'ok' : 'differs';
    const why = { ok: `${values?.[at]}`, skipped: 'its headers do not compile here' }[result];
    return { of, what, library: 'headers', result, why: why ?? `${values[at]} instead of ${known.join(' or ')}` };
  });
}

/** What attaching from outside finds, by its own code, and that it takes the layout which the headers have. */
async function checkAttaching(folder, layouts) {
  const program = inRoot('build/compat/wheel_probes');
  mkdirSync(inRoot('build/compat'), { recursive: true });
  const sources = ['autograd_probes', 'elf_file', 'probe_place_x86'].map(name =>
    inRoot(`native/uprobe/attach/${name}.cpp`),
  );
  const words = ['-std=c++20', '-O1', `-I${inRoot('native')}`, inRoot('test/compat/wheel_probes.cpp'), ...sources];
  await must(process.env.CXX ?? 'c++', [...words, '-o', program]);
  const found = JSON.parse(await must(program, [join(folder, 'torch/lib/libtorch_cpu.so')]));
  const own = ['sequence', 'thread'].map(key => String(found[key]));
  const right = found.numbers && found.evaluations;
  const places = layouts.filter(({ what }) => what.includes('Node::'));
  const same = places.every(({ result, why }, at) => result === 'skipped' || why === own[at]);
  const why = right
    ? same
      ? ''
      : `takes ${own.join(', ')} for a node's places`
    : 'backward lines are not found by attaching';
  return {
    of: 'attached',
    what: 'backward lines, attached',
    library: 'libtorch_cpu.so',
    result: right && same ? 'ok' : 'differs',
    why,
  };
}

/** Rows for names that the sources have and no row above: they would not be checked. */
function checkListed() {
  const listed = NAMES.flatMap(({ any }) => any.map(name => name.replace('*', '')));
  const sources = ['native/inject', 'native/uprobe'].flatMap(folder =>
    readdirSync(inRoot(folder), { recursive: true })
      .filter(name => /\.(cpp|h)$/.test(name))
      .map(name => readFileSync(inRoot(folder, name), 'utf8')),
  );
  const names = new Set(sources.flatMap(text => text.match(/_Z(?:N\d|TI)\w+/g) ?? []));
  const left = [...names].filter(name => !listed.includes(name));
  return left.map(what => ({
    of: 'events',
    what,
    library: 'native',
    result: 'differs',
    why: 'wheelFacts.mjs has no such name',
  }));
}

/** {wheel, rows} of one wheel, by its path or its release. */
export async function checkWheel(named) {
  const folder = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'gpu-memtrace-wheel-'));
  try {
    const { wheel, downloaded } = await wheelOf(named, folder);
    await run('unzip', ['-q', '-o', wheel, ...TAKEN, '-d', folder], { quiet: true }); // a build without CUDA has fewer
    if (downloaded) rmSync(wheel);
    const names = await checkNames(folder);
    const layouts = await checkLayouts(folder);
    return {
      wheel: basename(wheel),
      rows: [...names, ...layouts, await checkAttaching(folder, layouts), ...checkListed()],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
