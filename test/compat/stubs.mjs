// PyTorch's builds for CUDA, loaded without NVIDIA's libraries (3 GB): what they import from there is there, and does nothing.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../project/root.mjs';

const NVIDIA = /^lib(cu(?!da\.so)|nv|nccl)/;
const IMPORTED = /^(__cuda|cu|nccl|nv|Nv)/;
/** They give what CUDA gives where no GPU is; all others say that they did as wished. */
const NO_DEVICE = ['cudaGetDeviceCount', 'cudaGetDevice'];
const FAILS = 100;

/** Puts a library of empty functions beside PyTorch's own for each of NVIDIA's that is missing. Gives their names. */
export async function addMissingLibraries(folder) {
  const own = readdirSync(folder).filter(name => /\.so[.\d]*$/.test(name));
  const files = own.map(name => join(folder, name));
  const dynamic = await must('readelf', ['-W', '-d', ...files]);
  const needed = new Set([...dynamic.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name]) => name));
  const missing = [...needed].filter(name => NVIDIA.test(name) && !existsSync(join(folder, name)));
  if (missing.length === 0) return [];
  const imports = await importsOf(files);
  const known = one => missing.includes(one.library);
  const anyone = imports.filter(one => !known(one)).map(({ name }) => ({ name, version: '' }));
  for (const library of missing)
    await makeLibrary(folder, library, [...imports.filter(one => one.library === library), ...anyone]);
  return missing;
}

/** [{name, version, library}] of what the files import and none of them defines; '' where the file does not say from where. */
async function importsOf(files) {
  const found = new Map();
  const defined = new Set();
  for (const file of files) {
    const libraries = new Map();
    let library = '';
    for (const line of (await must('readelf', ['-W', '-V', file])).split('\n')) {
      library = /File: (\S+)/.exec(line)?.[1] ?? library;
      const version = /^\s+0x[0-9a-f]+:\s+Name: (\S+)/.exec(line)?.[1];
      if (version) libraries.set(version, library);
    }
    for (const line of (await must('readelf', ['-W', '--dyn-syms', file])).split('\n')) {
      const [, , , , , , place, symbol] = line.trim().split(/\s+/);
      const [name, version = ''] = (symbol ?? '').split(/@+/);
      if (!IMPORTED.test(name)) continue;
      if (place !== 'UND') defined.add(name);
      else found.set(`${name}@${version}`, { name, version, library: libraries.get(version) ?? '' });
    }
  }
  return [...found.values()].filter(({ name }) => !defined.has(name));
}

async function makeLibrary(folder, library, functions) {
  const [source, script] = ['c', 'map'].map(end => join(tmpdir(), `${library}-${process.pid}.${end}`));
  const names = [...new Set(functions.map(({ name }) => name))];
  const answer = name => (NO_DEVICE.includes(name) ? FAILS : 0);
  writeFileSync(source, names.map(name => `long ${name}(void) { return ${answer(name)}; }\n`).join(''));
  const versions = [...new Set(functions.map(({ version }) => version))].filter(version => version !== '');
  const lists = versions.map(version => {
    const those = functions.filter(one => one.version === version);
    return `${version} { global: ${those.map(({ name }) => `${name};`).join(' ')} };\n`;
  });
  writeFileSync(script, lists.join(''));
  const scripted = lists.length > 0 ? [`-Wl,--version-script=${script}`] : [];
  const words = ['-w', '-shared', '-fPIC', '-fno-builtin', `-Wl,-soname,${library}`, ...scripted];
  await must(process.env.CC ?? 'cc', [...words, '-o', join(folder, library), source]);
  for (const file of [source, script]) rmSync(file);
}
