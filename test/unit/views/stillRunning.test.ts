// A program that is started while its run before still goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sessions } from '../../../extension/views/session/sessions';
import { importWith } from '../fakeVscode';

const plan = { title: 'train.py', command: ['python', 'train.py'], cwd: '/x', environment: {} };
/** Nothing is chosen before the list closes. */
const WAITS = -1;
let answer: number | undefined = 0;
let questions = 0;
const vscode = {
  l10n: { t: (text: string) => text },
  CancellationTokenSource: class {
    readonly token = { isCancellationRequested: false, close: (): void => undefined };
    cancel(): void {
      this.token.isCancellationRequested = true;
      this.token.close();
    }
  },
  window: {
    showQuickPick: (items: unknown[], _options: object, token: { close: () => void }) => {
      questions++;
      if (answer === WAITS) return new Promise(done => (token.close = () => done(undefined)));
      return Promise.resolve(answer === undefined ? undefined : items[answer]);
    },
  },
};

/** Whether it starts, how often was asked, and whether the run before goes on. */
async function started(cwd: string, running = true): Promise<[boolean, number, boolean]> {
  const { makeRoom } = await importWith(vscode, () => import('../../../extension/views/commands/stillRunning'));
  questions = 0;
  let changed: () => void = () => undefined;
  const session = {
    running,
    plan: { ...plan, cwd },
    stop: () =>
      setTimeout(() => {
        changed();
        session.running = false;
        changed();
      }, 1),
  };
  const onDidChange = (listener: () => void): object => {
    changed = listener;
    return { dispose: () => (changed = () => undefined) };
  };
  if (answer === WAITS) session.stop();
  const starts = await makeRoom({ all: [session], onDidChange } as unknown as Sessions, plan);
  return [starts, questions, session.running];
}

test('nothing is asked where none of its runs goes on', async () => {
  assert.deepEqual(await started('/other'), [true, 0, true]);
  assert.deepEqual(await started('/x', false), [true, 0, false]);
});

test('it is stopped first, or goes on beside; nothing starts where the question is left', async () => {
  answer = 0;
  assert.deepEqual(await started('/x'), [true, 1, false]);
  answer = 1;
  assert.deepEqual(await started('/x'), [true, 1, true]);
  answer = undefined;
  assert.deepEqual(await started('/x'), [false, 1, true]);
});

test('the question goes once the run has ended, and the new one starts', async () => {
  answer = WAITS;
  assert.deepEqual(await started('/x'), [true, 1, false]);
});
