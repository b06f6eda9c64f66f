// Builds the native parts with CMake: build/native for objects and tests, dist/native for what ships.
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { inRoot, must, root, log, which } from './root.mjs';
import { ensurePrograms } from './systemPackages.mjs';
import { ensureUprobeTools } from './uprobeTools.mjs';

/** Throws an Error with one sentence when a program that the build needs is missing. */
function checkTools() {
  if (!which('cmake'))
    throw new Error('CMake is missing: install CMake 3.18 or newer (Debian: apt-get install cmake).');
  if (!which('ninja') && !which('make'))
    throw new Error('Neither ninja nor make was found: install one of them (Debian: apt-get install make).');
  if (!process.env.CXX && !which('c++') && !which('g++') && !which('clang++'))
    throw new Error('A C++20 compiler is missing: install g++ 10 or clang 12, or newer (Debian: apt-get install g++).');
}

/** A build folder that another checkout or generator made cannot be used again. */
function cached(key) {
  const cache = inRoot('build/native/CMakeCache.txt');
  if (!existsSync(cache)) return null;
  return new RegExp(`^${key}(?::\\w+)?=(.*)$`, 'm').exec(readFileSync(cache, 'utf8'))?.[1] ?? null;
}

/** Words for CMake: what other clones compiled is taken from ccache, where that is there. */
async function compilerCache() {
  if (process.env.CMAKE_CXX_COMPILER_LAUNCHER || (await ensurePrograms(['ccache'], ['ccache']))) return [];
  process.env.CCACHE_BASEDIR = root;
  process.env.CCACHE_NOHASHDIR = '1';
  process.env.CCACHE_SLOPPINESS = 'pch_defines,time_macros,include_file_mtime,include_file_ctime';
  return ['-DCMAKE_CXX_COMPILER_LAUNCHER=ccache', '-DCMAKE_C_COMPILER_LAUNCHER=ccache'];
}

/** What ships. */
export async function buildNative() {
  checkTools();
  const cache = await compilerCache();
  const left = await ensureUprobeTools();
  if (left) log(left);
  const generator = which('ninja') ? 'Ninja' : 'Unix Makefiles';
  const fresh = [cached('CMAKE_GENERATOR'), cached('CMAKE_HOME_DIRECTORY')];
  const usable = fresh[0] === generator && fresh[1] === inRoot('native');
  const flags = [
    '-S',
    'native',
    '-B',
    'build/native',
    '-G',
    generator,
    `-DGMT_DIST=${inRoot('dist/native')}`,
    ...cache,
  ];
  if (!usable && existsSync(inRoot('build/native')))
    await must('cmake', ['-E', 'rm', '-rf', inRoot('build/native')], { cwd: root });
  await must('cmake', flags);
  await compile('all');
}

/** After `buildNative`: the programs of test/native and test/fuzz. */
export const buildNativeTests = () => compile('tests');

/** After `buildNative`: those of test/fuzz with sanitizers. */
export const buildChecked = () => compile('checked');

async function compile(target) {
  await must('cmake', ['--build', 'build/native', '--target', target, '-j', String(availableParallelism())]);
}
