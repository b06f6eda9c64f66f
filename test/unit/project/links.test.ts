// What the pages of this project link to is there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(__dirname, '../../../..');

/** The links that lead nowhere, as the check says them. */
function check(folder: string): string {
  const { stdout } = spawnSync(process.execPath, [join(root, 'test/project/links.mjs'), folder], { encoding: 'utf8' });
  return stdout;
}

test('every link of every page leads to a file, and to a heading where it names one', () => {
  assert.equal(check(root), '');
});

test('a file, a picture and a heading that are not there are said', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-links-'));
  mkdirSync(join(folder, 'room'));
  const links = [
    '[a](room)',
    '[b](gone.md)',
    '![c](room/gone.png)',
    '[d](room/README.md#the-way)',
    '[e](#none)',
    '[f][g]',
  ];
  writeFileSync(join(folder, 'README.md'), `${links.join('\n')}\n\`[h](code.md)\`\n\n[g]: named.md\n`);
  writeFileSync(
    join(folder, 'room/README.md'),
    '# A room\n\n## The way\n\n[up](../README.md), [far](https://example.org)\n',
  );
  const said = check(folder).trim().split('\n');
  rmSync(folder, { recursive: true });
  assert.deepEqual(
    said,
    ['gone.md', 'room/gone.png', '#none', 'named.md'].map(link => `README.md: ${link} leads nowhere`),
  );
});
