import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { parseArguments, type Verb } from '../../../extension/cli/arguments/arguments';
import { helpLines } from '../../../extension/cli/arguments/help';
import { helpVerbs } from '../../../extension/cli/arguments/helpOptions';
import { COMPLETIONS } from '../../../extension/cli/completion';

const folder = resolve(__dirname, '../../../..', 'extension/cli/arguments');
const verbs = helpVerbs(true);
const optionOf = (verb: string, name: string) =>
  verbs.find(each => each.verb === verb)?.options.find(({ names }) => names.includes(name));

test('the help and the parser have the same options, and each shell completes them', () => {
  const helped = new Set(verbs.flatMap(({ options }) => options.flatMap(({ names }) => names)));
  const sources = readdirSync(folder).filter(name => name.endsWith('.ts'));
  const tables = sources.map(name => readFileSync(join(folder, name), 'utf8')).join('');
  const taken = [...tables.matchAll(/^ {2,4}'(-[\w-]+)': (?:\(|parsed )/gm)].map(([, name = '']) => name);
  assert.ok(taken.length > 30);
  assert.deepEqual([...new Set(taken)].sort(), [...helped].filter(name => !/^(-h|--help)$/.test(name)).sort());
  for (const { verb, options } of verbs)
    for (const { names } of options)
      for (const name of names) {
        const parsed = parseArguments([verb, name]);
        if ('usage' in parsed) assert.doesNotMatch(parsed.usage, /has no option/);
      }
  for (const [shell, scriptOf] of Object.entries(COMPLETIONS))
    for (const name of helped) {
      const word = shell === 'fish' ? name.replace(/^--/, '-l ').replace(/^-(?=\w$)/, '-s ') : name;
      assert.ok(scriptOf(verbs).includes(word), `${shell} ${name}`);
    }
});

test('the words of an option, and what its value is the name of', () => {
  assert.deepEqual(optionOf('run', '--format')?.value, { words: ['table', 'json', 'none'], kind: 'words' });
  assert.deepEqual(optionOf('report', '--format')?.value?.words.slice(0, 3), ['table', 'json', 'csv']);
  assert.deepEqual(optionOf('run', '--holders')?.value?.words, ['onFirstLeak', 'atSteps', 'never']);
  assert.deepEqual([optionOf('run', '--fail-on-leak')?.optional, optionOf('run', '--lean')?.value], [true, null]);
  const kinds = ['-o', '--compare', '--at'].map(name => optionOf('report', name)?.value?.kind);
  assert.deepEqual(kinds, ['file', 'trace', 'other']);
  assert.equal(optionOf('kernel', '--prefix')?.value?.kind, 'folder');
  const places = Object.fromEntries(verbs.map(({ verb, places: of }) => [verb, of.map(({ kind }) => kind)]));
  assert.deepEqual([places.run, places.report, places.record], [['command'], ['trace'], ['folder', 'words']]);
});

test('every word that the help names is accepted', () => {
  for (const { verb, options } of verbs)
    for (const { names, value } of options)
      for (const word of value?.words ?? [])
        for (const name of names) {
          const parsed = parseArguments([verb, `${name}=${word}`]);
          if ('usage' in parsed) assert.doesNotMatch(parsed.usage, /choose one of/, `${verb} ${name} ${word}`);
        }
});

test('every example of a value is accepted, and the first group of options is read at a glance', () => {
  const examples: string[] = [];
  for (const { verb } of verbs) {
    const lines = helpLines(verb as Verb, Infinity, true);
    const options = lines
      .join('\n')
      .split(/\n(?= {2}-)/)
      .slice(1); // each with the lines below it
    for (const option of options) {
      const [, name = ''] = /(--[\w-]+|-o)/.exec(option) ?? [];
      const [, quoted, plain] = /such\s+as (?:"([^"]+)"|(\S+?)[,;)]?(?:\s|$))/.exec(option) ?? [];
      const value = quoted ?? plain;
      if (value === undefined) continue;
      const parsed = parseArguments([verb, name, value]);
      if ('usage' in parsed)
        assert.match(parsed.usage, /^(Give |--ranks needs|--fail-above needs)/, `${verb} ${name} ${value}`);
      examples.push(`${name} ${value}`);
    }
    const first = lines.slice(lines.findIndex(line => line.startsWith('  -')));
    const end = first.indexOf('');
    assert.ok(first.slice(0, end).filter(line => line.startsWith('  -')).length <= 12, verb);
  }
  for (const one of ['--ranks 0,7,64-71', '--start-when reserved>70GiB', '--fail-above 5%', '--interval 2s'])
    assert.ok(examples.includes(one), examples.join('; '));
});
