import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onFrame } from '../../../webview/dom';

test('what a job requests comes in the same frame, and what that requests in the next one', () => {
  const frames: (() => void)[] = [];
  Object.assign(globalThis, { requestAnimationFrame: (frame: () => void) => frames.push(frame) });
  const drawn: string[] = [];
  const request = (name: string, then?: () => void): void =>
    onFrame(() => {
      drawn.push(name);
      then?.();
    });
  request('header', () => request('chart', () => request('later')));
  request('table');
  const drawFrame = (): string[] => {
    for (const frame of frames.splice(0)) frame();
    return drawn.splice(0);
  };
  assert.deepEqual([drawFrame(), drawFrame(), drawFrame()], [['header', 'table', 'chart'], ['later'], []]);
});
