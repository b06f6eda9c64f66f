// The addon that was built, for its tests.
import { resolve } from 'node:path';
import type { NativeAddon } from '../../../extension/native/native';

export const addonFile = resolve(process.env['GMT_ADDON'] ?? 'dist/native/gpu_memory_trace.node');
const loaded = { exports: {} };
process.dlopen(loaded, addonFile);
export const addon = loaded.exports as NativeAddon;

/** Why tests of newer questions cannot run; false where they can. CI builds the addon first: there it is always false. */
export const outdated =
  'openLifetimes' in addon || process.env['CI'] !== undefined
    ? false
    : `${addonFile} is older than its sources: build it`;
