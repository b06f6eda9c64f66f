// Terminals of traced programs: they go with their trace, once the program in them has ended.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { statusFile } from '../../../extension/capture/launch/terminalScript';
import { importWith } from '../fakeVscode';

test('a terminal is closed with its trace, unless its program runs', async () => {
  const closed: string[] = [];
  const createTerminal = ({ name }: { name: string }) => ({
    name,
    show: () => undefined,
    dispose: () => closed.push(name),
  });
  const window = { createTerminal, onDidStartTerminalShellExecution: () => ({ dispose: () => undefined }) };
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
  for (const directory of [ended, runs]) rmSync(directory, { recursive: true });
});
