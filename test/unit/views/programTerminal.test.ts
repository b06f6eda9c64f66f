// Terminals of traced programs: they go with their trace, once the program in them has ended.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { statusFile, terminalArguments } from '../../../extension/capture/launch/terminalScript';
import { importWith } from '../fakeVscode';

test('a terminal is closed with its trace, unless its program runs', async () => {
  const closed: string[] = [];
  const createTerminal = ({ name }: { name: string }) => ({
    name,
    show: () => undefined,
    dispose: () => closed.push(name),
  });
  const terminals: object[] = [];
  const window = { createTerminal, terminals, onDidStartTerminalShellExecution: () => ({ dispose: () => undefined }) };
  class ThemeIcon {}
  const { closeEnded, openTerminal } = await importWith(
    { window, ThemeIcon, l10n: { t: String } },
    () => import('../../../extension/views/session/terminal'),
  );
  const open = (title: string): string => {
    const directory = mkdtempSync(join(tmpdir(), 'terminal-'));
    openTerminal({ title, command: ['python', title], cwd: '/', environment: {} }, directory, {});
    return directory;
  };
  const [ended, runs] = [open('ended.py'), open('runs.py')];
  writeFileSync(statusFile(ended), '0\n');
  for (const directory of [ended, runs, null]) closeEnded({ directory });
  assert.deepEqual(closed, ['ended.py']);
  const before = (name: string, directory: string) => {
    const shell = spawn('/bin/sh', terminalArguments(directory, ['', ''], {}, ['sleep', '60']), { detached: true });
    const dispose = (): unknown => closed.push(`reloaded ${name}`);
    terminals.push({ name, processId: Promise.resolve(shell.pid), dispose });
    return shell;
  };
  const shells = [before('next.py', runs), before('other.py', ended), before('next.py', ended)];
  const next = open('next.py');
  while (closed.length < 2) await setImmediate();
  assert.deepEqual(closed.slice(1), ['reloaded next.py'], 'also what a window before left');
  for (const { pid } of shells) process.kill(-Number(pid), 'SIGKILL');
  for (const directory of [ended, runs, next]) rmSync(directory, { recursive: true });
});
