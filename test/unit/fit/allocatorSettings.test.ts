import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '../../../extension/fit/allocatorSettings';

const MIB = 2 ** 20;

test('settings as PyTorch reads them', () => {
  assert.deepEqual(readSettings(''), {});
  assert.deepEqual(readSettings('expandable_segments:True'), { expandableSegments: true });
  assert.deepEqual(
    readSettings(
      'max_split_size_mb:128, garbage_collection_threshold:0.8,roundup_power2_divisions:4,expandable_segments:false',
    ),
    { maxSplitBytes: 128 * MIB, garbageCollectionThreshold: 0.8, roundupPower2Divisions: 4, expandableSegments: false },
  );
  assert.deepEqual(readSettings('max_non_split_rounding_mb:40'), { maxUnsplitRoundingBytes: 40 * MIB });
  assert.deepEqual(readSettings('backend:native,pinned_use_background_threads:True'), {});
});

test('what cannot be replayed is named', () => {
  for (const wrong of [
    'backend:cudaMallocAsync',
    'expandable_segments:maybe',
    'max_split_size_mb:x',
    'max_split_size_mb:-1',
    'max_split_size_mb',
    'roundup_power2_divisions:[256:1,512:2,>:4]',
    'unknown:1',
  ])
    assert.deepEqual(readSettings(`expandable_segments:True,${wrong}`), { error: wrong });
});
