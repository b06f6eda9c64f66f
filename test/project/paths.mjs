// One module a language opens, makes, renames and deletes what has a path: native/wire/files.h, gpu_memtrace/_files.py, agent/files.py.
// (extension/files has a rule of the linter.) Prints each other place.
import { readdirSync, readFileSync } from 'node:fs';
import { inRoot } from './root.mjs';

const CALLS =
  /(?<![\w.:>]|\w\s)(?:::)?\b(?:openat|creat|fopen|opendir|rename|renameat2?|unlink|unlinkat|link|symlink|mkdir|mkdirat|rmdir|mkstemp|mkdtemp|chmod|chown|truncate|remove|execvp?e?|popen|system)\(/;
/** Elsewhere `open` is a name of ours, too. */
const OPEN = file => (/^native\/(?:inject|wire)\//.test(file) ? /(?<![\w.:>])open\(/ : /(?<![\w>])::open\(/);
const STREAMS = /std::(?:[io]?fstream|filesystem)/;
const PYTHON =
  /(?<![\w.])open\(|\bos\.(?:open|fdopen|rename|replace|unlink|remove|link|symlink|mkdir|makedirs|rmdir|chmod|chown|truncate)\(|\b(?:shutil|tempfile|tokenize)\.\w+\(/;
/** What they open is no file of somebody else's: /proc, the program that was named, a lock that `_files` opened. */
const OWN = new Map([
  ['native/wire/process_start.h', /open\(path, O_RDONLY/],
  ['native/uprobe/python/foreign_process.cpp', /fopen\(proc_path/],
  ['native/uprobe/run/process_info.cpp', /opendir\(folder/],
  ['native/addon/program.cpp', /execvp\(words/],
  ['native/package/gpu_memtrace/_recording.py', /os\.fdopen\(lock_file/],
]);
const MODULES = /^native\/(?:wire\/files\.h|(?:package\/gpu_memtrace\/_files|agent\/files)\.py)$/;

const files = readdirSync(inRoot('native'), { recursive: true }).map(name => `native/${name}`);
let wrong = 0;
for (const file of files.filter(name => /\.(?:cpp|h|py)$/.test(name) && !/simulator|\.gen\.h$/.test(name))) {
  if (MODULES.test(file)) continue;
  for (const [i, line] of readFileSync(inRoot(file), 'utf8').split('\n').entries()) {
    const code = line.replace(/(?:\/\/|#(?!include)).*|"(?:[^"\\]|\\.)*"/g, '""');
    const found = file.endsWith('.py')
      ? PYTHON.test(code)
      : CALLS.test(code) || OPEN(file).test(code) || STREAMS.test(code);
    if (!found || OWN.get(file)?.test(line)) continue;
    console.error(`${file}:${i + 1}: ${line.trim()}`);
    wrong++;
  }
}
if (wrong > 0) console.error(`${wrong} places open, make, rename or delete by a path beside ${MODULES.source}`);
process.exitCode = wrong > 0 ? 1 : 0;
