// Opens all memory snapshots of a folder, and compares each with what its truth.tsv says is in it.
//   node test/golden/checkSnapshots.mjs FOLDER
// A file is NAME.pickle, .pickle.gz, .pickle.zip or .pickle.xz (which the program xz unpacks).
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const cli = resolve('dist/cli.js'); // from the root of the checkout
const WRONG_WORDS =
  /INCOMPLETE|LOST|damaged|program ended before|runs no Python|PID: 0|UID: 0|process 0\b|gpu-memtrace-snapshot|\.o:\d|driver memory of .* stays taken/;

function report(file, ...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'report', file, ...words], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  if (status !== 0) throw new Error(`${file}: status ${status}: ${stderr.trim()}`);
  return stdout;
}

const documentOf = file => JSON.parse(report(file, '--format', 'json'));

/** What a report says of what truth.tsv counts. */
function sumsOf({ totals, oom, steps, lost }) {
  const of = (layer, field) => totals.filter(one => one.layer === layer).reduce((sum, one) => sum + one[field], 0);
  return {
    reserved_bytes: of('driver', 'liveBytes'),
    live_blocks: of('tensor', 'liveCount'),
    live_bytes: of('tensor', 'liveBytes'),
    optimizer_steps: steps.source === 'optimizer' ? steps.count : 0,
    ooms: oom.length,
    lost: lost.events,
  };
}

/** Of each device: what is alive, how many, the peak; of tensors all that was allocated and freed. */
function totalsOf({ totals }) {
  return totals
    .map(({ device, layer, liveBytes, liveCount, peakBytes, allocations, frees }) =>
      layer === 'driver'
        ? `${device} reserved: ${liveBytes}`
        : `${device} ${layer}: ${[liveBytes, liveCount, peakBytes, allocations, frees].join(' ')}`,
    )
    .sort();
}

/** What another snapshot, written from this one, has otherwise. */
function writtenAnew(file, document) {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-again-'));
  const again = join(folder, 'again.pickle');
  report(file, '--format', 'pytorch-snapshot', '-o', again);
  const [before, after] = [totalsOf(document), totalsOf(documentOf(again))];
  rmSync(folder, { recursive: true });
  return after.filter(line => !before.includes(line)).map(line => `written anew, ${line}`);
}

/** What differs, a sentence each. */
export function checkSnapshot(file, truth) {
  const document = documentOf(file);
  const sums = sumsOf(document);
  const wrong = Object.entries(sums)
    .filter(([name, value]) => value !== Number(truth[name] ?? 0))
    .map(([name, value]) => `${name} is ${value}, not ${truth[name] ?? 0}`);
  const text = [report(file), ...(sums.ooms > 0 ? [report(file, '--oom')] : [])].join('\n');
  const word = WRONG_WORDS.exec(text);
  if (word !== null) wrong.push(`says “${word[0]}”`);
  return [...wrong, ...writtenAnew(file, document)];
}

export function truthOf(folder) {
  const [head, ...rows] = readFileSync(join(folder, 'truth.tsv'), 'utf8').trim().split('\n');
  const names = head.split('\t');
  return rows.map(row => Object.fromEntries(row.split('\t').map((value, i) => [names[i], value])));
}

/** The snapshot of that name; `unpacked`: where one goes that this product does not unpack. */
export function fileOf(folder, name, unpacked) {
  const found = ['', '.gz', '.zip', '.xz'].map(end => join(folder, `${name}.pickle${end}`)).find(existsSync);
  if (found === undefined) throw new Error(`${name}.pickle is not in ${folder}.`);
  if (!found.endsWith('.xz')) return found;
  const file = join(unpacked, `${name}.pickle`);
  writeFileSync(file, execFileSync('xz', ['-dc', found], { maxBuffer: 1 << 30 }));
  return file;
}

if (process.argv[1]?.endsWith('checkSnapshots.mjs')) {
  const folder = process.argv[2] ?? '.';
  const unpacked = mkdtempSync(join(tmpdir(), 'gmt-check-'));
  const rows = truthOf(folder);
  const bad = rows.filter(truth => {
    const wrong = checkSnapshot(fileOf(folder, truth.file, unpacked), truth);
    if (wrong.length > 0) console.log(`${truth.file}: ${wrong.join('; ')}`);
    return wrong.length > 0;
  });
  rmSync(unpacked, { recursive: true });
  console.log(`${rows.length} snapshots, ${bad.length} wrong`);
  process.exitCode = bad.length > 0 ? 1 : 0;
}
