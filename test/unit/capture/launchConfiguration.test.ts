import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  commandVariables,
  isPythonLaunch,
  parseEnvironmentFile,
  planOf,
  substitute,
  UnusableConfiguration,
  type VariableContext,
} from '../../../extension/capture/launch/launchConfiguration';
import { joinWords, splitWords } from '../../../extension/capture/launch/shellWords';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertThrows } = sentencesOf(__filename);

const context: VariableContext = {
  workspaceFolder: '/work/my project',
  workspaceFolders: { lib: '/work/lib' },
  file: '/work/my project/src/train.py',
  lineNumber: 12,
  selectedText: 'sel',
  userHome: '/home/u',
  environment: { NAME: 'value' },
  setting: name => (name === 'a.b' ? 'set' : undefined),
  commands: { 'my.pick': 'picked' },
  interpreter: '/venv/bin/python',
};
const noFile = (): string => {
  throw new Error('no file');
};
const base = { type: 'debugpy', request: 'launch', name: 'Train' };

test('the common variables stand for what they stand for in VS Code', () => {
  const cases: [string, string][] = [
    ['${workspaceFolder}/x', '/work/my project/x'],
    ['${workspaceFolder:lib}', '/work/lib'],
    ['${workspaceFolderBasename}', 'my project'],
    ['${file}', '/work/my project/src/train.py'],
    ['${fileBasename} ${fileBasenameNoExtension} ${fileExtname}', 'train.py train .py'],
    ['${fileDirname}', '/work/my project/src'],
    ['${relativeFile} ${relativeFileDirname}', 'src/train.py src'],
    ['${env:NAME}-${env:UNSET}-', 'value--'],
    ['${config:a.b}', 'set'],
    ['${command:my.pick}', 'picked'],
    ['${command:python.interpreterPath}', '/venv/bin/python'],
    ['${userHome}${/}${lineNumber}', '/home/u/12'],
    ['$HOME {x} ${', '$HOME {x} ${'],
  ];
  for (const [text, value] of cases) assert.equal(substitute(text, context), value);
});

test('a variable without a value is refused by its name', () => {
  for (const name of ['nope', 'input:x', 'config:x', 'command:other', 'workspaceFolder:other']) {
    assert.throws(() => substitute(`a \${${name}} b`, context), new RegExp(`\\$\\{${name}\\}`));
  }
  assert.throws(() => substitute('${file}', { ...context, file: null }), UnusableConfiguration);
});

test('a program with arguments, environment and folder', () => {
  const plan = planOf(
    {
      ...base,
      program: '${workspaceFolder}/src/train.py',
      args: ['--data', '${workspaceFolder}/data', 3],
      env: { A: '${env:NAME}', B: null, C: 1 },
      cwd: '${fileDirname}',
      pythonArgs: ['-u'],
    },
    context,
    noFile,
  );
  assert.deepEqual(plan, {
    title: 'Train',
    command: ['/venv/bin/python', '-u', '/work/my project/src/train.py', '--data', '/work/my project/data', '3'],
    cwd: '/work/my project/src',
    environment: { A: 'value', C: '1' },
  });
});

test('a module, another interpreter, arguments as a line, Linux settings, an environment file', () => {
  const plan = planOf(
    {
      ...base,
      module: 'torch.distributed.run',
      python: '/opt/my python/bin/python',
      args: '--nproc-per-node 2 "a b.py"',
      envFile: '${workspaceFolder}/.env',
      env: { A: 'over' },
      linux: { cwd: 'sub' },
    },
    context,
    path => (path === '/work/my project/.env' ? 'A=1\nB=2\n' : noFile()),
  );
  assert.deepEqual(plan.command, [
    '/opt/my python/bin/python',
    '-m',
    'torch.distributed.run',
    '--nproc-per-node',
    '2',
    'a b.py',
  ]);
  assert.equal(plan.cwd, '/work/my project/sub');
  assert.deepEqual(plan.environment, { A: 'over', B: '2' });
});

test('a relative program counts from cwd; a missing environment file is none', () => {
  const plan = planOf({ ...base, program: 'train.py', envFile: '/none' }, context, noFile);
  assert.deepEqual(plan.command, ['/venv/bin/python', '/work/my project/train.py']);
  assert.deepEqual(plan.environment, {});
});

test('what cannot be run is said', () => {
  assertThrows(() => planOf(base, context, noFile));
  assert.throws(() => planOf({ ...base, program: 'x', args: '"open' }, context, noFile), /quote/);
  assert.throws(() => planOf({ ...base, program: 'x', args: 3 }, context, noFile), /"args"/);
});

test('only Python launches are offered', () => {
  assert.ok(isPythonLaunch(base));
  assert.ok(isPythonLaunch({ ...base, type: 'python' }));
  for (const other of [{ ...base, request: 'attach' }, { ...base, type: 'node' }, null, 3, []]) {
    assert.ok(!isPythonLaunch(other));
  }
});

test('commands to ask are found wherever they stand', () => {
  assert.deepEqual(commandVariables({ args: ['${command:a.b}'], env: { X: '-${command:c}-' } }), ['a.b', 'c']);
});

test('environment files: comments, quotes, export', () => {
  const text = `# comment\nA=1\nexport B = two words # why\nC="x # y\\nz"\nD='q'\nbad line\nE=\n`;
  assert.deepEqual(parseEnvironmentFile(text), { A: '1', B: 'two words', C: 'x # y\nz', D: 'q', E: '' });
});

test('words are split as a shell does', () => {
  assert.deepEqual(splitWords(`a 'b c' "d \\"e" f\\ g '' h"i"j`), ['a', 'b c', 'd "e', 'f g', '', 'hij']);
  assert.deepEqual(splitWords('  '), []);
  assert.equal(splitWords(`a "b`), null);
});

test('words that were joined are read back', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), words => {
      assert.deepEqual(splitWords(joinWords(words)), words);
    }),
  );
});
