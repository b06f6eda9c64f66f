// What package.json contributes fits together.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { COMMANDS, MCP_SERVERS, SHOW_TOOL } from '../../../extension/views/contributedNames';

const root = resolve(__dirname, '../../../..');
const text = readFileSync(join(root, 'package.json'), 'utf8');
const names = JSON.parse(readFileSync(join(root, 'package.nls.json'), 'utf8')) as Record<string, string>;
const { contributes, files } = JSON.parse(text) as {
  files: string[];
  contributes: {
    commands: { command: string; enablement?: string }[];
    menus: Record<string, { command: string; when?: string }[]>;
    mcpServerDefinitionProviders: { id: string }[];
    languageModelTools: { name: string }[];
    chatSkills: { path: string }[];
    walkthroughs: {
      when?: string;
      steps: { id: string; media: { svg: string }; completionEvents: string[] }[];
    }[];
  };
};

test('every text of the manifest has its words, and no words are left over', () => {
  const used = new Set([...text.matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key ?? ''));
  assert.deepEqual([...used].sort(), Object.keys(names).sort());
});

const bundle = (file: string): string => readFileSync(join(root, 'dist', file), 'utf8');
const ships = (file: string): boolean => files.includes(`dist/${file}`);

test('a window that starts reads no more than what registers the names of the manifest', () => {
  const needed = [...bundle('extension.js').matchAll(/require\("(.+?)"\)/g)].map(([, name]) => name);
  assert.deepEqual([...new Set(needed)].sort(), ['./parts', 'node:fs', 'node:path', 'vscode']);
  assert.ok(ships('extension.js') && ships('parts.js'));
});

test('each command of the manifest is registered', () => {
  const registered = new Set<string>(COMMANDS.map(name => `gpuMemoryTrace.${name}`));
  for (const { command } of contributes.commands) assert.ok(registered.has(command), command);
});

test('what only an export needs is a file of its own, which ships', () => {
  assert.match(bundle('parquet.js'), /DELTA_BINARY_PACKED/);
  assert.ok(ships('parquet.js'));
  for (const file of ['engine.js', 'cli.js']) {
    assert.match(bundle(file), /require\("\.\/parquet"\)/);
    assert.doesNotMatch(bundle(file), /DELTA_BINARY_PACKED/);
  }
});

test('what reads traces is a file of its own, which ships; the extension host loads nothing native', () => {
  assert.ok(ships('engine.js'));
  assert.match(bundle('engine.js'), /gpu_memory_trace\.node/);
  assert.doesNotMatch(bundle('extension.js') + bundle('parts.js'), /gpu_memory_trace\.node|dlopen/);
});

test('what only agents need is a file of its own, which ships', () => {
  assert.match(bundle('mcpSdk.js'), /modelcontextprotocol/);
  assert.ok(ships('mcpSdk.js'));
  assert.match(bundle('cli.js'), /require\("\.\/mcpSdk"\)/);
  assert.doesNotMatch(bundle('cli.js') + bundle('parts.js'), /modelcontextprotocol\.io|ajv\/dist/);
});

test('what agents find in the editor: the server, the tool, and a skill that ships', () => {
  const { mcpServerDefinitionProviders, languageModelTools, chatSkills } = contributes;
  assert.deepEqual([mcpServerDefinitionProviders[0]?.id, languageModelTools[0]?.name], [MCP_SERVERS, SHOW_TOOL]);
  const [{ path } = { path: '' }] = chatSkills;
  const skill = readFileSync(join(root, path), 'utf8');
  const [, name, description = ''] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(skill) ?? [];
  assert.equal(path, `./extension/cli/mcp/skills/${name}/SKILL.md`);
  assert.ok(description.length > 100 && description.length <= 1024, String(description.length));
  assert.ok(files.includes('extension/cli/mcp/skills/**'));
  const { tools } = JSON.parse(readFileSync(join(root, 'extension/cli/mcp/tools.json'), 'utf8')) as {
    tools: { name: string }[];
  };
  for (const tool of [...tools, ...languageModelTools]) assert.ok(skill.includes(`\`${tool.name}\``), tool.name);
});

test('the walkthrough is there in browsers too, and has its pictures and commands', () => {
  const commands = new Set(contributes.commands.map(({ command }) => command));
  for (const { when, steps } of contributes.walkthroughs) {
    assert.equal(when, undefined);
    for (const { id, media, completionEvents } of steps) {
      assert.ok(existsSync(join(root, media.svg)) && files.includes('media/walkthrough/**'), media.svg);
      for (const [, command = ''] of (names[`walkthrough.${id}.description`] ?? '').matchAll(/command:([\w.]+)/g))
        assert.ok(commands.has(command), command);
      for (const event of completionEvents) assert.match(event, /^on(Command|View):gpuMemoryTrace\.\w+$/);
    }
  }
});

test('menus name commands that there are', () => {
  const commands = new Set(contributes.commands.map(({ command }) => command));
  for (const entries of Object.values(contributes.menus)) {
    for (const { command } of entries) assert.ok(commands.has(command), command);
  }
});

test('what starts or attaches is offered in trusted workspaces only', () => {
  for (const name of ['start', 'startConfiguration', 'attach', 'debug', 'runTest']) {
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
  assert.equal(enabled('stop'), 'gpuMemoryTrace.canStop || gpuMemoryTrace.canDetach'); // in the palette it is the one for both
  assert.equal(enabled('detach'), 'gpuMemoryTrace.canDetach');
});

test('the palette has at most 16 commands, each once; what is not there has a menu, or is in “Set up…”', () => {
  const { commands, menus } = contributes;
  const hidden = (menus.commandPalette ?? []).filter(({ when }) => when === 'false').map(({ command }) => command);
  const offered = commands.map(({ command }) => command).filter(command => !hidden.includes(command));
  assert.ok(offered.length <= 16, offered.join(' '));
  const inMenus = Object.entries(menus).flatMap(([menu, entries]) =>
    menu === 'commandPalette' ? [] : entries.map(({ command }) => command),
  );
  const setUp = readFileSync(join(root, 'extension/views/commands/setUp.ts'), 'utf8');
  for (const command of hidden)
    assert.ok(inMenus.includes(command) || setUp.includes(`'${command?.split('.')[1]}'`), command);
});
