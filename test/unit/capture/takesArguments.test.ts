import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { optionsOf, takesArguments } from '../../../extension/capture/launch/takesArguments';

const folder = mkdtempSync(join(tmpdir(), 'arguments-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

let programs = 0;
/** Whether a program of these files takes arguments; its script is the first. */
function takes(files: Record<string, string>): boolean {
  const own = join(folder, String(++programs));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(own, name)), { recursive: true });
    writeFileSync(join(own, name), text);
  }
  return takesArguments(join(own, Object.keys(files)[0] ?? ''));
}

test('a script that reads its arguments by any usual way takes them', () => {
  const ways = [
    'import argparse',
    'import os, click',
    'from typer import Typer',
    'def main():\n    import fire\n    fire.Fire(train)',
    'import sys\nprint(sys.argv[1])',
    'from sys import argv',
    'from transformers import (\n    HfArgumentParser,\n)',
  ];
  for (const way of ways) assert.equal(takes({ 'train.py': way }), true, way);
});

test('the options that it declares, those that are required first', () => {
  const script = join(folder, 'options.py');
  const text = `p.add_argument("--lr", type=float, default=1e-3)
p.add_argument('-e', '--epochs', type=int, help="how (many)", required=True)
p.add_argument("--amp", action="store_true")
@click.option("--name")
p.add_argument("data")
`;
  writeFileSync(script, text);
  assert.deepEqual(optionsOf(script), ['--epochs …', '--lr …', '--amp', '--name …']);
});

test('one that only speaks of them takes none', () => {
  const ways = [
    'import torch',
    '# import argparse',
    'x = "click here"',
    'import firefly',
    'from model import fire_all',
  ];
  for (const way of ways) assert.equal(takes({ 'train.py': way }), false, way);
});

test('what it imports from its own folder counts, through packages, and in circles', () => {
  const reader = 'import argparse';
  assert.equal(takes({ 'train.py': 'import options', 'options.py': reader }), true);
  assert.equal(takes({ 'train.py': 'from lib import data, options', 'lib/options.py': reader }), true);
  assert.equal(
    takes({ 'train.py': 'import lib.data', 'lib/data.py': 'from . import own', 'lib/own.py': reader }),
    true,
  );
  assert.equal(
    takes({ 'train.py': 'import lib', 'lib/__init__.py': 'from .own import x', 'lib/own.py': reader }),
    true,
  );
  assert.equal(takes({ 'train.py': 'import a', 'a.py': 'import b', 'b.py': 'import a', 'other.py': reader }), false);
});
