import { dirname, join } from 'node:path';
import { readText } from '../../files/files';

/** A parser of command lines is imported, or named; or the words themselves are. */
const IMPORTS_PARSER =
  /^\s*(?:from|import)\s[^#\n]*\b(?:argparse|optparse|getopt|click|typer|fire|docopt|absl|hydra|tyro)\b/m;
const NAMES_PARSER = /\bsys\.argv\b|^\s*from sys import\b.*\bargv\b|\b(?:Hf)?ArgumentParser\b|\bLightningCLI\b/m;
const IMPORT = /^[ \t]*(?:from[ \t]+(\.*)([.\w]*)[ \t]+import[ \t]+\(?([\w, \t]*)|import[ \t]+([\w., \t]+))/gm;
/** An option of argparse or click, and how it is declared. */
const OPTION = /\b(?:add_argument|option)\((?:\s*["']-\w["'],)?\s*["'](--[\w-]+)["']((?:[^()]|\([^()]*\))*)/g;
/** So many are shown. */
const MOST_OPTIONS = 8;
/** Of one program so many files are read. */
const MOST_FILES = 50;

/** Whether a Python script, or a module of its own folder that it imports, reads arguments, as far as its source shows. Nothing runs. */
export function takesArguments(script: string): boolean {
  const files = new Set([script]);
  for (const file of files) {
    const text = readText(file);
    if (IMPORTS_PARSER.test(text) || NAMES_PARSER.test(text)) return true;
    for (const found of modulesIn(text, dirname(file), dirname(script))) if (files.size < MOST_FILES) files.add(found);
  }
  return false;
}

/** The options that a script declares itself, `--epochs …`, those that it requires first. */
export function optionsOf(script: string): string[] {
  const found = [...readText(script).matchAll(OPTION)].map(([, name = '', how = '']) => ({
    text: /store_(?:true|false)|is_flag|BooleanOptional/.test(how) ? name : `${name} …`,
    optional: Number(!/\brequired\s*=\s*True/.test(how)),
  }));
  return found
    .sort((a, b) => a.optional - b.optional)
    .slice(0, MOST_OPTIONS)
    .map(({ text }) => text);
}

/** Files that the imports of a text may mean; of `from a import b` also `a/b.py`. */
function modulesIn(text: string, own: string, top: string): string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, dots = '', from = '', below = '', plain = '']) => {
    const folder = dots === '' ? top : join(own, ...Array<string>(dots.length - 1).fill('..'));
    const names = (plain || below).split(',').map(name => name.trim().split(/\s/)[0] ?? '');
    const modules = plain ? names : [from, ...names.map(name => `${from}.${name}`)];
    const paths = modules.map(name => join(folder, ...name.split('.')));
    return paths.flatMap(path => [`${path}.py`, join(path, '__init__.py')]);
  });
}
