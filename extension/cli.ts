import { readBytes } from './files/files';
import { join } from 'node:path';
import { simulatorProblem } from './capture/checks/simulator';
import { parseArguments } from './cli/arguments/arguments';
import { attach } from './cli/attach';
import { doctor } from './cli/doctor';
import { fit } from './cli/fitCommand';
import { helpLines } from './cli/arguments/help';
import { helpVerbs } from './cli/arguments/helpOptions';
import { COMPLETIONS } from './cli/completion';
import { holders } from './cli/holders';
import { sql } from './cli/job/sql';
import { kernel } from './cli/kernel';
import { print, notify } from './cli/output/output';
import { report } from './cli/report/report';
import { run } from './cli/run';
import { mark, record } from './cli/running';
import { loadNative } from './native/addon';

const USAGE = 2;

// A variable makes the editor's own Node.js no editor; the program is not to inherit it.
if (process.versions.electron !== undefined) delete process.env.ELECTRON_RUN_AS_NODE;

async function main(words: string[], dist: string): Promise<number> {
  const inCheckout = (): boolean => simulatorProblem(dist) === null;
  const parsed = parseArguments(words);
  if ('usage' in parsed) {
    notify(parsed.usage);
    return USAGE;
  }
  switch (parsed.verb) {
    case 'help':
      print(helpLines(parsed.about, process.stdout.columns ?? Infinity, inCheckout()));
      return 0;
    case 'version':
      print([versionLine(dist)]);
      return 0;
    case 'completion':
      print(COMPLETIONS[parsed.shell](helpVerbs(inCheckout())).split('\n'));
      return 0;
    case 'run':
      return run(parsed, dist);
    case 'attach':
      return attach(parsed, dist);
    case 'record':
      return record(parsed, dist);
    case 'mark':
      return mark(parsed, dist);
    case 'report':
      return report(parsed, dist);
    case 'fit':
      return fit(parsed, dist);
    case 'holders':
      return holders(parsed, dist);
    case 'kernel':
      return kernel(parsed, dist);
    case 'sql':
      return sql(parsed, dist);
    case 'doctor':
      return doctor(parsed, dist);
    case 'mcp':
      return (await import('./cli/mcp/server')).mcp(productVersion(dist), dist);
  }
}

function versionLine(dist: string): string {
  const loaded = loadNative(dist);
  const native = 'error' in loaded ? `not loaded: ${loaded.error}` : loaded.addon.version;
  return `gpu-memtrace ${productVersion(dist)} (${process.platform}-${process.arch}, native library ${native})`;
}

function productVersion(dist: string): string {
  const manifest = JSON.parse(readBytes(join(dist, '..', 'package.json')).toString('utf8')) as { version: string };
  return manifest.version;
}

/** A file that belongs to this program is not there; null: it is another error. */
function missingPart(error: unknown): string | null {
  const { code, path = '' } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' || !path.startsWith(join(__dirname, '..'))) return null;
  return `${path}, a part of gpu-memtrace, is missing. Reinstall gpu-memtrace.`;
}

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

// It makes an editor's program run this file; the programs that we run are to have none of it.
delete process.env.ELECTRON_RUN_AS_NODE;
// Leaves at once: nothing that is still open (a followed trace, a terminal) may hold the status back.
void main(process.argv.slice(2), __dirname).then(
  status => process.exit(status),
  (error: unknown) => {
    print(`gpu-memtrace: ${missingPart(error) ?? stackOf(error)}`.split('\n'), 2);
    process.exit(125);
  },
);
