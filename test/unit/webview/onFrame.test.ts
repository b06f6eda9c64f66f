import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onFrame } from '../../../webview/dom';

test('what a job requests comes in its own frame; what requests itself, in the next one', () => {
  const frames: (() => void)[] = [];
  Object.assign(globalThis, { requestAnimationFrame: (frame: () => void) => frames.push(frame) });
  const drawn: string[] = [];
  const chart = (): void => void drawn.push('chart');
  const clock = (): void => {
    drawn.push('clock');
    if (drawn.length < 5) onFrame(clock);
  };
  onFrame(() => {
    drawn.push('header');
    onFrame(chart);
  });
  onFrame(clock);
  assert.equal(frames.length, 1);
  frames[0]?.();
  assert.deepEqual(drawn, ['header', 'clock', 'chart']);
  assert.equal(frames.length, 2);
  frames[1]?.();
  assert.deepEqual(drawn.slice(3), ['clock']);
  frames[2]?.();
});

test('the state that all parts draw comes before them, whichever was requested earlier', () => {
  const frames: (() => void)[] = [];
  Object.assign(globalThis, { requestAnimationFrame: (frame: () => void) => frames.push(frame) });
  let state = 'old';
  const drawn: string[] = [];
  const chart = (): void => void drawn.push(state);
  onFrame(chart);
  onFrame(() => {
    state = 'new';
    onFrame(chart);
  }, true);
  for (let i = 0; i < frames.length; i++) frames[i]?.();
  assert.deepEqual(drawn, ['new']);
});
