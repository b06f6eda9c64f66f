// Finds circles among the #include lines of C and C++ files: `node test/project/includeCircles.mjs [FOLDER ...]`. Ends with 1 where
// there is one. clang-tidy's check for it needs every file compiled, the BPF programs with a compiler of their own; this reads lines.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from './root.mjs';

const folders = process.argv.slice(2).map(folder => resolve(folder));
if (folders.length === 0) folders.push(join(root, 'native'), join(root, 'test'));
/** Where CMake lets the compiler look, besides the file's own folder. */
const searched = [...folders, join(root, 'native')];

const files = folders.flatMap(folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.(h|c|cpp)$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name)),
);

function included(file) {
  const names = [...readFileSync(file, 'utf8').matchAll(/^\s*#\s*include\s*"([^"]+)"/gm)].map(([, name]) => name);
  const places = name => [dirname(file), ...searched].map(folder => join(folder, name));
  return names.map(name => places(name).find(existsSync)).filter(Boolean);
}

/** Files on the way down from the one that was begun with, and those that are known to lead into no circle. */
const way = [];
const clear = new Set();

function follow(file) {
  if (way.includes(file)) return [[...way.slice(way.indexOf(file)), file]];
  if (clear.has(file)) return [];
  way.push(file);
  const circles = included(file).flatMap(follow);
  way.pop();
  clear.add(file);
  return circles;
}

const circles = files.flatMap(follow);
for (const circle of circles) console.log(`Circle: ${circle.map(file => relative(root, file)).join(' -> ')}`);
process.exitCode = circles.length > 0 ? 1 : 0;
