// What threads and devices are called on the page.
import { t } from '@vscode/l10n';
import { findThread } from '../../../extension/protocol/threads';
import type { Layer, ProcessInfo } from '../../../extension/protocol/trace';

/** `cuda:0`, as PyTorch names it; an unknown device is no host memory. */
export function deviceText(device: number, layer: Layer): string {
  if (device >= 0) return `cuda:${device}`;
  return layer === 'host' ? t('host') : t('unknown GPU');
}

/** `main thread`, else `python:4712`; with its process where there are several. */
export function threadText(processes: readonly ProcessInfo[], process: number, thread: number): string {
  if (thread < 0) return t('several threads');
  const owner = processes.find(one => one.index === process);
  const found = findThread(processes, process, thread);
  const named = found ? `${found.name}:${found.tid}` : t('thread {0}', thread);
  const name = found && found.tid === owner?.pid ? t('main thread') : named;
  return processes.length > 1 && owner ? t('{0} of process {1}', name, owner.pid) : name;
}
