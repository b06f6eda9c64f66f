#!/usr/bin/env node
// Stands in for the `code` executable where there is none: takes the arguments that @vscode/test-electron passes, runs
// the tests in the extension host, and ends with their status. Environment: BENCH_TIMEOUT_S; DRIVER_FOLDER, where the
// tests put their requests to the window (driver.mjs); VERBOSE=1 shows the workbench's own messages too.
import { format } from 'node:util';
import { serveRequests } from './driver.mjs';
import { openWorkbench, startServer } from './workbench.mjs';

const flags = new Map();
const rest = [];
for (const argument of process.argv.slice(2)) {
  const flag = /^--([\w-]+)(?:=(.*))?$/.exec(argument);
  if (flag) flags.set(flag[1], [...(flags.get(flag[1]) ?? []), flag[2] ?? '']);
  else rest.push(argument);
}

/** The messages of the workbench itself. */
const noise = new RegExp(
  [
    '^(%c|Canceled: |Resolv|Creating a socket|\\[reconnection|\\[Service W|\\[AgentHost|\\[AccountPolicy',
    'Updating additional|Creation of workbench contribution|getaddrinfo ENOTFOUND|No extension gallery|Failed to load resource',
    'The web worker extension host is started|Timed out waiting for authentication provider|.*Could not locate the bindings file|.*Release.watchdog)',
  ].join('|'),
);

// The page takes one of them.
const [extension, ...beside] = flags.get('extensionDevelopmentPath') ?? [];
const server = await startServer({ beside, trust: !flags.has('disable-workspace-trust') });
let window;
let finished = false;
/** How long the server may take to log how the host's process ended. */
const LOG_MS = 5000;

/** The workbench reports 0 also when the extension host died, so 0 counts only after mocha's summary and a clean end. */
async function ended(code) {
  const end = await server.logged(/Extension Host Process exited with code: (\S+), signal: (\S+?)\./, LOG_MS);
  const clean = finished && (!end || (end[1] === '0' && end[2] === 'null'));
  if (code === 0 && !clean) {
    process.stderr.write(`The extension host ended before the tests did (${end?.[0] ?? 'no summary'}).\n`);
    code = 70;
  }
  await stop(code);
}

async function stop(code) {
  await window?.browser.close().catch(() => {});
  await server.stop();
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop(130));
setTimeout(
  () => {
    process.stderr.write(`The tests took too long.\n${server.log()}`);
    void stop(124);
  },
  Number(process.env.BENCH_TIMEOUT_S ?? 180) * 1000,
);

window = await openWorkbench(server, {
  folder: rest[0],
  extensions: [extension].filter(Boolean),
  tests: flags.get('extensionTestsPath')?.[0],
  onExit: ended,
  onLog(type, args) {
    const text = format(...args);
    finished ||= /\b\d+ passing\b/.test(text);
    if (process.env.VERBOSE || !noise.test(String(args[0])))
      (type === 'error' ? process.stderr : process.stdout).write(text + '\n');
  },
});
if (process.env.DRIVER_FOLDER) await serveRequests(window.page, process.env.DRIVER_FOLDER);
