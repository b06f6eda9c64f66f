// What package.json contributes fits together.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(__dirname, '../../..');
const text = readFileSync(join(root, 'package.json'), 'utf8');
const names = JSON.parse(readFileSync(join(root, 'package.nls.json'), 'utf8')) as Record<string, string>;
const { contributes } = JSON.parse(text) as {
  contributes: {
    commands: { command: string; enablement?: string }[];
    menus: Record<string, { command: string; when?: string }[]>;
  };
};

test('every text of the manifest has its words, and no words are left over', () => {
  const used = new Set([...text.matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key ?? ''));
  assert.deepEqual([...used].sort(), Object.keys(names).sort());
});

test('what only an export needs is a file of its own, which ships', () => {
  const ignored = readFileSync(join(root, '.vscodeignore'), 'utf8').split('\n');
  const of = (file: string): string => readFileSync(join(root, 'dist', file), 'utf8');
  assert.match(of('arrow.js'), /flatbuffers/);
  assert.ok(ignored.includes('!dist/arrow.js'));
  for (const file of ['extension.js', 'cli.js']) {
    assert.match(of(file), /require\("\.\/arrow"\)/);
    assert.doesNotMatch(of(file), /RecordBatch/);
  }
});

test('menus name commands that there are', () => {
  const commands = new Set(contributes.commands.map(({ command }) => command));
  for (const entries of Object.values(contributes.menus)) {
    for (const { command } of entries) assert.ok(commands.has(command), command);
  }
});

test('what starts or attaches is offered in trusted workspaces only', () => {
  for (const name of ['start', 'startConfiguration', 'attach']) {
    const found = contributes.commands.find(({ command }) => command === `gpuMemoryTrace.${name}`);
    assert.match(found?.enablement ?? '', /\bisWorkspaceTrusted\b/, name);
  }
  const attach = Object.values(contributes.menus)
    .flat()
    .filter(({ command }) => command === 'gpuMemoryTrace.attach');
  assert.ok(attach.length >= 2);
  for (const { when } of attach) assert.match(when ?? '', /\bisWorkspaceTrusted\b/);
});

test('an attached program can be detached from, a launched one stopped', () => {
  const enabled = (name: string): string =>
    contributes.commands.find(({ command }) => command === `gpuMemoryTrace.${name}`)?.enablement ?? '';
  assert.match(enabled('stop'), /!gpuMemoryTrace\.attached/);
  assert.match(enabled('detach'), /&& gpuMemoryTrace\.attached/);
});
