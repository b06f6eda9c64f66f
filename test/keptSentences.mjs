// The sentences that tests expect stand in the file sentences.json of their room, in the order in which each test meets them:
// `npm test -- STAGE --update` writes what the product writes now, and its diff shows what that changes. A test that is gone takes
// its sentences along.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { masked } from './masked.mjs';

const isUpdate = process.env.UPDATE_GOLDEN !== undefined;
/** Of the test that runs: its key, and its sentences so far. */
const running = new AsyncLocalStorage();
/** Stages that run programs. */
const OF_RUNS = /^test\/(?:cli|ecosystem|host|torch)\b/;
const LOCK_MS = 60_000;

/** Above the folder that a test is bundled into, however deep that is. */
const repository = folder => (existsSync(join(folder, 'package.json')) ? folder : repository(dirname(folder)));

/** `file`: path of the tests' file, bundled or not. `define(name, …, body)`: defines a test. */
export function keptSentences(file, define) {
  const root = repository(dirname(file));
  const room = relative(root, dirname(file)).replace(/^build\//, '');
  const own = basename(file).replace(/(\.test)?\.m?js$/, '');
  const path = join(root, room, 'sentences.json');
  const stored = read(path);
  const keys = new Set();
  const keyOf = name => {
    const key = `${own}: ${name}`;
    keys.add(key);
    return key;
  };

  async function inTest(key, context, body) {
    const sentences = [];
    const isSkipped = skipping(context);
    await running.run({ key, sentences }, body);
    if (isSkipped()) return;
    if (isUpdate) keep(join(root, room), own, keys, key, sentences);
    else
      assert.equal(
        sentences.length,
        stored[key]?.length ?? 0,
        `${key}: number of its sentences in ${relative(root, path)}`,
      );
  }
  /** `define`, with the sentences of each test that it defines. */
  const test = (name, ...rest) => {
    const key = keyOf(name);
    const body = rest.pop();
    return define(name, ...rest, function (...given) {
      return inTest(key, given[0], () => body.apply(this, given));
    });
  };
  test.left = name => void keyOf(name);

  const assertSentence = (actual, why = '') => {
    assert.ok(typeof actual === 'string', `${String(actual)} is no sentence`);
    const { key, sentences } = running.getStore() ?? assert.fail('assertSentence was called outside of a test');
    const expected = stored[key]?.[sentences.length];
    const text = masked(actual, root, OF_RUNS.test(room));
    sentences.push(text);
    const place = `${key} (${sentences.length - 1}), of ${relative(root, path)}`;
    if (!isUpdate) assert.equal(text, expected, why ? `${place}: ${why}` : place);
  };
  return {
    test,
    assertSentence,
    assertThrows(run) {
      let thrown;
      try {
        run();
      } catch (error) {
        thrown = error;
      }
      assertSentence(messageOf(thrown ?? assert.fail('nothing was thrown')));
    },
    async assertRejects(promise) {
      const rejected = () => assert.fail('it was not rejected');
      assertSentence(messageOf(await promise.then(rejected, error => error)));
    },
  };
}

/** Of another class than Error, with that. */
const messageOf = error => (error.name === 'Error' ? error.message : String(error));
const read = path => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {});

/** Of this file's tests, those in `keys` remain; of other files, those that still have sentences. */
function keep(folder, own, keys, key, sentences) {
  const path = join(folder, 'sentences.json');
  const hasSentences = name =>
    ['.test.ts', '.test.mjs', '.mjs'].some(ending => {
      const source = join(folder, name + ending);
      return existsSync(source) && /assertSentence|assertThrows|assertRejects/.test(readFileSync(source, 'utf8'));
    });
  const remains = ([one, texts]) => {
    const of = one.slice(0, one.indexOf(': '));
    return texts.length > 0 && (of === own ? keys.has(one) : hasSentences(of));
  };
  underLock(path, () => {
    const all = { ...read(path), [key]: sentences };
    const kept = Object.entries(all).filter(remains);
    const text = `${JSON.stringify(Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`;
    if (kept.length === 0) rmSync(path, { force: true });
    else if (!existsSync(path) || text !== readFileSync(path, 'utf8')) writeFileSync(path, text);
  });
}

/** Of node:test's context: gives whether the test was skipped. */
function skipping(context) {
  if (typeof context?.skip !== 'function') return () => false;
  let isSkipped = false;
  const skip = context.skip.bind(context);
  context.skip = message => {
    isSkipped = true;
    skip(message);
  };
  return () => isSkipped;
}

/** Files of a room run in several processes. */
function underLock(path, change) {
  const lock = `${path}.lock`;
  for (const end = Date.now() + LOCK_MS; ;) {
    try {
      closeSync(openSync(lock, 'wx'));
      break;
    } catch {
      if (Date.now() > end) throw new Error(`${lock} is left from a run that was killed: remove it.`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
  try {
    change();
  } finally {
    rmSync(lock);
  }
}
