// A program that the user stops in the debugger: that is no failure. One that ended by itself is let go by the same request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Debugging } from '../../../extension/views/commands/debugging';
import type { Sessions } from '../../../extension/views/session/sessions';
import { importWith } from '../fakeVscode';

class EventEmitter {
  event = () => ({ dispose: () => undefined });
  fire(): void {
    // nothing listens
  }
}
const register = () => ({ dispose: () => undefined });
const vscode = {
  EventEmitter,
  debug: { registerDebugAdapterTrackerFactory: register, onDidTerminateDebugSession: register },
  languages: { registerHoverProvider: register },
};

/** How often a stop is noted when these messages pass: `<` from the debugger, `>` to it. */
async function stopsNoted(messages: string[]): Promise<number> {
  const module = await importWith(vscode, () => import('../../../extension/views/commands/debugging'));
  let noted = 0;
  const session = { remembered: { directory: '/nowhere' }, noteStop: () => noted++, setStandsStill: () => undefined };
  const debugging: Debugging = new module.Debugging({ all: [session] } as unknown as Sessions);
  debugging.begin = (_plan, open) => Promise.resolve(void open('/nowhere', { GPU_MEMTRACE_DIR: '/nowhere' }));
  const resolved = await debugging.resolve(undefined, { type: 'debugpy', name: 'x', request: 'launch' });
  const debugged = { id: '1', configuration: resolved } as Parameters<Debugging['createDebugAdapterTracker']>[0];
  const tracker = debugging.createDebugAdapterTracker(debugged);
  for (const message of messages) {
    const name = message.slice(1);
    if (message.startsWith('>')) tracker?.onWillReceiveMessage?.({ command: name });
    else tracker?.onDidSendMessage?.({ event: name, body: {} });
  }
  return noted;
}

test('stop and restart are the user’s; what follows the end is not', async () => {
  assert.equal(await stopsNoted(['>continue', '>disconnect', '<exited', '<terminated']), 1);
  assert.equal(await stopsNoted(['>terminate', '<terminated', '>disconnect']), 1);
  assert.equal(await stopsNoted(['>continue', '<exited', '<terminated', '>disconnect']), 0);
});
