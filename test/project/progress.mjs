// The output of long work: it is kept together, and while the work runs a line now and then shows the newest of it.
import { stripVTControlCharacters } from 'node:util';
import { keepOutput } from './root.mjs';

const SILENCE_MS = 15_000;
const MOST_CHARACTERS = 100;
const working = new Set();
let timer;

class Part {
  began = Date.now();
  output = '';
  newest = '';

  constructor(name) {
    this.name = name;
  }
  write(text) {
    this.output += text;
  }
  note(text) {
    const lines = stripVTControlCharacters(text).split('\n');
    this.newest = lines.findLast(line => line.trim() !== '')?.trim() ?? this.newest;
  }
  line() {
    const seconds = `${Math.round((Date.now() - this.began) / 1000)} s`;
    return `   … ${this.name.padEnd(9)} ${seconds.padStart(5)}  ${this.newest.slice(0, MOST_CHARACTERS)}`;
  }
}

const printParts = () => console.log([...working].map(part => part.line()).join('\n'));

/** Runs `work` under a name. Resolves with { value, error, output, seconds }: of value and error one is there. */
export async function inPart(name, work) {
  const part = new Part(name);
  working.add(part);
  timer ??= setInterval(printParts, SILENCE_MS);
  const ended = {};
  try {
    ended.value = await keepOutput(part, work);
  } catch (error) {
    ended.error = error;
  }
  working.delete(part);
  clearInterval(timer);
  timer = working.size > 0 ? setInterval(printParts, SILENCE_MS) : undefined;
  return { ...ended, output: part.output, seconds: (Date.now() - part.began) / 1000 };
}
