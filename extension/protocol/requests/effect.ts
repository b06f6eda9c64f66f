import { formatBytes, formatCount, type Translate } from '../format';
import type { Experiment, ExperimentEffect } from './verdictRequests';

/** What an experiment did, in a sentence: `gc.collect() freed 3.00 MB of tensors (1,412 objects).` */
export function effectText({ experiment, error, objects, ...bytes }: ExperimentEffect, t: Translate): string {
  const name = nameOf(experiment, t);
  if (error !== null) return t('{0} failed: {1}', name, error);
  const { tensorBytes, reservedBytes, driverBytes } = bytes;
  const freed: string[] = [];
  if ((tensorBytes ?? 0) > 0) freed.push(t('{0} of tensors', formatBytes(tensorBytes ?? 0)));
  if ((reservedBytes ?? 0) > 0) freed.push(t('{0} of PyTorch’s cache', formatBytes(reservedBytes ?? 0)));
  if ((driverBytes ?? 0) > 0) freed.push(t('{0} of driver memory', formatBytes(driverBytes ?? 0)));
  const what = freed.length > 0 ? freed.join(', ') : t('no GPU memory');
  const all = objects === null ? what : t('{0} ({1} objects)', what, formatCount(objects));
  const grown = tensorBytes !== null && tensorBytes < 0 ? formatBytes(-tensorBytes) : null;
  return grown === null
    ? t('{0} freed {1}.', name, all)
    : t('{0} freed {1}; the run grew by {2} meanwhile.', name, all, grown);
}

function nameOf(experiment: Experiment, t: Translate): string {
  const names: Record<Experiment, string> = {
    collect: 'gc.collect()',
    'drop-exception': t('Dropping the last exception'),
    'empty-cache': 'empty_cache()',
    workspaces: t('Clearing the cuBLAS workspaces'),
    'ipc-collect': 'ipc_collect()',
  };
  return names[experiment];
}
