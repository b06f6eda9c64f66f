#!/usr/bin/env node
// `npm run test:fuzz [-- KIND… --seconds N --keep]`: each fuzz target of this folder for a minute, or N seconds, with clang's
// libFuzzer under address and undefined sanitizers. What it finds on the way is kept in build/fuzz/corpus; --keep puts the
// smallest inputs that reach as much into test/fuzz/corpus.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inRoot, must, run, log, which } from '../project/root.mjs';
import { ensureFiles } from '../project/systemPackages.mjs';

const build = inRoot('build/fuzz');
const kept = inRoot('test/fuzz/corpus');
const all = readdirSync(inRoot('test/fuzz')).flatMap(name => /^fuzz_(\w+)\.cpp$/.exec(name)?.[1] ?? []);
// Freed memory is held back for a while, to catch who still uses it: a little of it, since fresh pages are most of the time of a run.
const env = {
  ASAN_OPTIONS: 'quarantine_size_mb=2:allocator_release_to_os_interval_ms=-1',
  GMT_TEST_GOLDEN: inRoot('test/golden/trace'),
  GMT_TEST_CORPUS: kept,
};

/** A clang that knows C++20's ranges and has libFuzzer, or null. */
async function fuzzingClang() {
  const probe = join(build, 'probe.cpp');
  mkdirSync(build, { recursive: true });
  writeFileSync(
    probe,
    '#include <ranges>\n#include <cstdint>\nextern "C" int LLVMFuzzerTestOneInput(const uint8_t *, std::size_t n) {\n' +
      '  for (auto i : std::views::iota(std::size_t{0}, n)) (void)i;\n  return 0;\n}\n',
  );
  for (const version of ['', '-22', '-21', '-20', '-19', '-18', '-17', '-16']) {
    const clang = which(`clang++${version}`);
    const flags = ['-std=c++20', '-fsanitize=fuzzer,address,undefined', probe, '-o', `${probe}.out`];
    if (clang && (await run(clang, flags, { quiet: true })).code === 0) return clang;
  }
  return null;
}

/** The targets, built; else the sentence that says what is missing. */
async function buildTargets() {
  let clang = await fuzzingClang();
  if (!clang) {
    await ensureFiles(() => ['clang++-19'].filter(name => !which(name)), ['clang-19', 'libclang-rt-19-dev']);
    clang = await fuzzingClang();
  }
  if (!clang)
    return 'clang 16 or newer with libFuzzer is missing; type: sudo apt-get install clang-19 libclang-rt-19-dev';
  const compilers = [`-DCMAKE_CXX_COMPILER=${clang}`, `-DCMAKE_C_COMPILER=${clang.replace('clang++', 'clang')}`];
  const cache = which('ccache') ? ['-DCMAKE_CXX_COMPILER_LAUNCHER=ccache', '-DCMAKE_C_COMPILER_LAUNCHER=ccache'] : [];
  const generator = which('ninja') ? 'Ninja' : 'Unix Makefiles';
  const places = ['-S', 'native', '-B', build, '-G', generator, `-DGMT_DIST=${join(build, 'dist')}`];
  await must('cmake', [...places, '-DGMT_FUZZERS=ON', ...compilers, ...cache]);
  await must('nice', ['cmake', '--build', build, '--target', 'fuzzers', '-j', String(availableParallelism())]);
  return null;
}

/** The folders of a kind's inputs: those that are found, made, kept. */
async function inputs(kind) {
  const folders = [join(build, 'corpus', kind), join(build, 'seeds', kind)];
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  await must(join(build, 'test/fuzz/fuzz_seeds'), [folders[1], kind], { env });
  if (existsSync(join(kept, kind))) folders.push(join(kept, kind));
  return folders;
}

/** Runs one target; false: it stopped at an input, which is said. */
async function fuzz(kind, seconds) {
  const program = join(build, 'test/fuzz', `libfuzzer_${kind}`);
  const found = join(build, 'found', `${kind}-`);
  mkdirSync(join(build, 'found'), { recursive: true });
  const limits = [`-max_total_time=${seconds}`, '-timeout=25', '-rss_limit_mb=2048', '-max_len=131072'];
  const words = [...limits, '-print_final_stats=1', `-artifact_prefix=${found}`, ...(await inputs(kind))];
  const { code, output } = await run('nice', [program, ...words], { env, quiet: true });
  writeFileSync(join(build, `${kind}.log`), output);
  const runs = Number(/number_of_executed_units:\s*(\d+)/.exec(output)?.[1] ?? 0);
  log(
    `${kind.padEnd(12)} ${runs.toLocaleString('en').padStart(12)} runs in ${seconds} s${code === 0 ? '' : ': FAILED'}`,
  );
  if (code === 0) return { runs, good: true };
  const input = /Test unit written to (\S+)/.exec(output)?.[1];
  const summary = /^(?:SUMMARY|==\d+==\s*ERROR).*$/m.exec(output)?.[0] ?? `status ${code}`;
  log(`  ${summary}\n  again: ${input ? `${program} ${input}` : `see ${join(build, `${kind}.log`)}`}`);
  return { runs, good: false };
}

/** Of the inputs that reach all that is reached, the smallest ones go to test/fuzz/corpus/KIND, as far as they fit. */
async function keep(kind, mostBytes = 12_000, mostFiles = 48) {
  const target = join(kept, kind),
    merged = join(build, 'merged', kind);
  rmSync(merged, { recursive: true, force: true });
  mkdirSync(merged, { recursive: true });
  const program = join(build, 'test/fuzz', `libfuzzer_${kind}`);
  await must(program, ['-merge=1', merged, ...(await inputs(kind))], { env });
  const files = readdirSync(merged).map(name => ({ name: name.slice(0, 12), bytes: readFileSync(join(merged, name)) }));
  files.sort((a, b) => a.bytes.length - b.bytes.length);
  mkdirSync(target, { recursive: true });
  let bytes = 0;
  for (const file of files.slice(0, mostFiles))
    if ((bytes += file.bytes.length) <= mostBytes) writeFileSync(join(target, file.name), file.bytes);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, keep: { type: 'boolean', default: false } },
});
const unknown = positionals.find(kind => !all.includes(kind));
if (unknown || !(Number(values.seconds) > 0)) {
  log(`usage: npm run test:fuzz [-- ${all.join('|')} … --seconds N --keep]`);
  process.exit(2);
}
const missing = await buildTargets();
if (missing) {
  log(`Skipped: ${missing}`);
  process.exit(0);
}
let runs = 0;
for (const kind of positionals.length > 0 ? positionals : all) {
  const result = await fuzz(kind, values.seconds);
  runs += result.runs;
  if (!result.good) process.exit(1);
  if (values.keep) await keep(kind);
}
log(`${runs.toLocaleString('en')} runs, nothing found`);
