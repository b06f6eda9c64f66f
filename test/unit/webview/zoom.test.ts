import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FOLLOW, panBy, visibleWindow, zoomAt, type Zoom } from '../../../webview/explorer/state/zoom';

const RUN = 1e12;

test('following shows the whole run, or its last part', () => {
  assert.deepEqual(visibleWindow(FOLLOW, RUN), { fromNs: 0, toNs: RUN });
  assert.deepEqual(visibleWindow({ spanNs: 1e9, endNs: null }, RUN), { fromNs: RUN - 1e9, toNs: RUN });
});

test('zooming keeps the time under the pointer', () => {
  const zoom = zoomAt(FOLLOW, RUN, 0.5, 0.25);
  const { fromNs, toNs } = visibleWindow(zoom, RUN);
  assert.equal(fromNs + (toNs - fromNs) * 0.25, RUN * 0.25);
  assert.equal(toNs - fromNs, RUN / 2);
});

test('zooming in at the right edge goes on following, zooming out ends at the whole run', () => {
  assert.equal(zoomAt(FOLLOW, RUN, 0.5, 1).endNs, null);
  assert.deepEqual(zoomAt({ spanNs: RUN / 2, endNs: RUN / 2 }, RUN, 10, 0.5), FOLLOW);
});

test('panning back stops following, panning to the end follows again', () => {
  const back = panBy({ spanNs: 1e9, endNs: null }, RUN, -2);
  assert.equal(back.endNs, RUN - 2e9);
  assert.equal(panBy(back, RUN, 5).endNs, null);
  assert.equal(visibleWindow(panBy(back, RUN, -1e9), RUN).fromNs, 0);
});

test('whatever is done, the window is not empty and lies inside the run', () => {
  const move = fc.oneof(
    fc.record({
      factor: fc.double({ min: 0.01, max: 20, noNaN: true }),
      place: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.record({ part: fc.double({ min: -3, max: 3, noNaN: true }) }),
  );
  fc.assert(
    fc.property(fc.array(move, { maxLength: 30 }), fc.integer({ min: 1, max: 1e15 }), (moves, run) => {
      let zoom: Zoom = FOLLOW;
      for (const one of moves)
        zoom = 'part' in one ? panBy(zoom, run, one.part) : zoomAt(zoom, run, one.factor, one.place);
      const { fromNs, toNs } = visibleWindow(zoom, run);
      assert.ok(fromNs >= 0 && toNs > fromNs && toNs <= Math.max(run, 1000), `${fromNs} to ${toNs} of ${run}`);
    }),
  );
});
