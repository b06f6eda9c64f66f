// Each shell completes what is typed on its terminal; the line that installs it is that of the manual.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Shell } from '../../../extension/cli/arguments/arguments';
import { Place, root } from '../launcher';
import { onTerminal } from '../terminalScreen';

/** What is typed, with a tab for each press of it, and what the command then gets. */
const TYPED: [string, string][] = [
  ['repo\t', 'report'],
  ['report --format perf\t', 'report --format perfetto'],
  ['report --group-by=mod\t', 'report --group-by=module-path'],
  ['report --format json --oo\t', 'report --format json --oom'],
  ['report trac\t', 'report trace of mine.gputrace'],
  ['report --between 10% 90% trac\t', 'report --between 10% 90% trace of mine.gputrace'],
  ['report --compare trac\t', 'report --compare trace of mine.gputrace'],
  ['run --log trai\t', 'run --log train.py'],
  ['run --holders onF\t', 'run --holders onFirstLeak'],
  ['run -o x.gputrace -- program-of-m\t', 'run -o x.gputrace -- program-of-mine'],
  ['run --lean program-of-mine trai\t', 'run --lean program-of-mine train.py'],
  ['record 4711 of\t', 'record 4711 off'],
  ['kernel unins\t', 'kernel uninstall'],
  ['sql jo\t', 'sql job/?'], // zsh leaves the slash out
  ['completion fi\t', 'completion fish'],
];
const SHELLS: Record<Shell, { words: string; rc: string }> = {
  bash: { words: 'bash --noprofile --rcfile home/.bashrc -i', rc: '.bashrc' },
  zsh: { words: 'zsh -i', rc: '.zshrc' },
  fish: { words: 'fish -i', rc: '.config/fish/config.fish' },
};
/** The table of the manual: shell, line, file. */
const INSTALLED = /^\| (\w+) +\| `([^`]+)` +\| `~\/([^`]+)`/gm;
const manual = readFileSync(join(root, 'docs/command-line.md'), 'utf8');
const lines = new Map(
  [...manual.matchAll(INSTALLED)].map(([, shell = '', line, file]) => [
    shell,
    { line: line?.replace('\\|', '|'), file },
  ]),
);

for (const [shell, { words, rc }] of Object.entries(SHELLS)) {
  const missing = spawnSync(shell, ['--version']).error !== undefined;
  test(`${shell} completes what is typed`, { skip: missing && `${shell} is not installed` }, async t => {
    const place = new Place(t);
    const { line = '', file } = lines.get(shell) ?? {};
    assert.equal(file, rc);
    for (const folder of ['bin', 'job', 'home/.config/fish']) mkdirSync(place.path(folder), { recursive: true });
    for (const name of ['train.py', 'trace of mine.gputrace', 'jobs.txt']) place.write(name, '');
    const real = place.command.map(word => `"${word}"`).join(' ');
    const programs = {
      'gpu-memtrace': `[ "$1" != completion ] || [ -n "$GOT" ] || exec ${real} "$@"`,
      'program-of-mine': '',
    };
    for (const [name, text] of Object.entries(programs))
      writeFileSync(place.path('bin', name), `#!/bin/sh\n${text}\nprintf 'GOT<%s>\\n' "$*"\n`, { mode: 0o755 });
    writeFileSync(
      place.path('home', rc),
      `${line}\n${shell === 'fish' ? 'set -x GOT 1' : 'export GOT=1'}\necho READY\n`,
    );
    Object.assign(place.env, { HOME: place.path('home'), PATH: `${place.path('bin')}:${process.env.PATH}` });
    const terminal = onTerminal(place, [24, 100], [], `exec ${words}`);
    await terminal.shows(/READY/);
    for (const [text, got] of TYPED) {
      terminal.type(`gpu-memtrace ${text}\r`);
      await terminal.shows(new RegExp(`GOT<${got}>`));
    }
  });
}
