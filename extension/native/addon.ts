// The only loader of the native addon.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeAddon } from './native';
import { remembered } from '../base/maps';
import type { TraceInfo } from '../protocol/trace';

export type { NativeAddon, NativeTrace } from './native';
export type Loaded = { addon: NativeAddon } | { error: string };

const MEND = 'reinstall GPU Memory Trace, or build it with "npm run build".';
const loaded = new Map<string, Loaded>();

/** Loads `native/gpu_memory_trace.node` under `dist`. The error is one sentence: why it cannot load and what to do. */
export function loadNative(dist: string): Loaded {
  return remembered(loaded, dist, () => load(join(dist, 'native', 'gpu_memory_trace.node')));
}

function load(file: string): Loaded {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    const machine = `${process.platform} ${process.arch}`;
    return { error: `GPU Memory Trace works on Linux x64 and arm64; this is ${machine}.` };
  }
  if (!existsSync(file)) return { error: `The native part is missing: ${file}; ${MEND}` };
  try {
    const module = { exports: {} };
    process.dlopen(module, file);
    const addon = module.exports as NativeAddon;
    return {
      addon: {
        ...addon,
        open: (path, options) => withMaskedSecrets(addon, addon.open(path, options)),
        openLifetimes: (path, options) => withMaskedSecrets(addon, addon.openLifetimes(path, options)),
      },
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return { error: `The native part ${file} does not load: ${reason}; ${MEND}` };
  }
}

/** A trace whose facts have no secrets of the command line, also where an earlier version recorded it. */
function withMaskedSecrets<Trace extends { info(): TraceInfo }>(addon: NativeAddon, trace: Trace): Trace {
  const info = trace.info.bind(trace);
  const masked = (): TraceInfo => {
    const facts = info();
    for (const process of facts.processes) process.command = addon.maskSecrets(process.command);
    const { command } = facts.session;
    if (Array.isArray(command)) facts.session.command = addon.maskSecrets(command.map(String));
    return facts;
  };
  return Object.defineProperty(trace, 'info', { configurable: true, value: masked });
}
