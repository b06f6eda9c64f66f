// The sentences that tests expect stand in the file sentences.json of their room, in the order in which each test says them:
// `npm test -- unit --update` writes what is said now, and its diff shows what that changes.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test as plainTest, type TestContext } from 'node:test';

type Stored = Record<string, string[]>;
interface Running {
  readonly key: string;
  readonly said: string[];
}

const running = new AsyncLocalStorage<Running>();
const isUpdate = process.env.UPDATE_GOLDEN !== undefined;

/** `of`: room and file of the tests (`verdicts/findings`). `test`: node's, in which `assertSentence` finds its place. */
export function sentencesOf(of: string) {
  const [room = '', file = ''] = of.split('/');
  const path = resolve(__dirname, '../../../../test/unit', room, 'sentences.json');
  const read = (): Stored => (existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Stored) : {});
  const stored = read();
  const now: Stored = {};
  if (isUpdate) process.once('exit', () => underLock(path, () => write(path, { ...read(), ...now })));
  return {
    test(name: string, body: (t: TestContext) => void | Promise<void>): void {
      const key = `${file}: ${name}`;
      void plainTest(name, t => running.run({ key, said: (now[key] = []) }, () => body(t)));
    },
    assertSentence(actual: string | null | undefined): void {
      assert.ok(typeof actual === 'string', `${String(actual)} is no sentence`);
      const { key, said } = running.getStore() ?? assert.fail('assertSentence was called outside of a test');
      const expected = stored[key]?.[said.length];
      said.push(actual);
      if (!isUpdate)
        assert.equal(actual, expected, `${key} (${said.length}), of ${join('test/unit', room, 'sentences.json')}`);
    },
  };
}

function write(path: string, all: Stored): void {
  const kept = Object.entries(all).filter(([, sentences]) => sentences.length > 0);
  const sorted = Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(path, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** Files of a room run in several processes. */
function underLock(path: string, change: () => void): void {
  const lock = `${path}.lock`;
  for (;;) {
    try {
      closeSync(openSync(lock, 'wx'));
      break;
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
  change();
  rmSync(lock);
}
