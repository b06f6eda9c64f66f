import { escapeJson } from '../../text/escapeForTerminal';
import { batches } from '../../base/maps';

const CHUNK = 1 << 16;
/** Entries that are written together. */
const BATCH = 64;

/** The document as indented JSON with a line break behind it, in pieces; what can be iterated is an array, made as it is written. */
export function* jsonChunks(document: object): Generator<string> {
  let chunk = '';
  for (const piece of pieces(document)) {
    chunk += piece;
    if (chunk.length < CHUNK) continue;
    yield escapeJson(chunk);
    chunk = '';
  }
  yield escapeJson(`${chunk}\n`);
}

function* pieces(document: object): Generator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(document) as [string, unknown][]) {
    if (value === undefined) continue;
    yield `${before}\n  ${JSON.stringify(name)}: `;
    before = ',';
    if (isIterable(value)) yield* entries(value);
    else yield indented([value]);
  }
  yield before === '{' ? '{}' : '\n}';
}

function* entries(list: Iterable<unknown>): Generator<string> {
  let before = '[';
  for (const batch of batches(list, BATCH)) {
    yield `${before}\n    ${indented([batch]).slice('[\n    '.length, -'\n  ]'.length)}`;
    before = ',';
  }
  yield before === '[' ? '[]' : '\n  ]';
}

/** The one entry of a list, as it stands there. */
function indented(list: [unknown]): string {
  return JSON.stringify(list, null, 2).slice('[\n  '.length, -'\n]'.length);
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}
