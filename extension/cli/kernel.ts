import { commandLine } from '../capture/checks/attachTarget';
import { installedKernels, installKernel, uninstallKernel, type KernelSpec } from '../capture/kernel/kernelSpec';
import type { KernelArguments } from './arguments/kernelArguments';
import { print, refuse } from './output/output';

const WIDTH = 32;

/** Writes a Jupyter kernel that starts under the tracer, removes it, or lists all. Returns the exit status. */
export function kernel(options: KernelArguments, dist: string): number {
  if (options.deed === 'list') return list(installedKernels(process.env));
  const install = options.deed === 'install';
  const name = options.name ?? `${options.kernel ?? 'python3'}-gpu-memtrace`;
  const done = install
    ? installKernel(commandLine(dist), options, process.env)
    : uninstallKernel(name, options.place, process.env);
  if ('error' in done) return refuse(done.error, 1);
  print([`${install ? 'Installed' : 'Removed'} "${done.displayName}" ${install ? 'in' : 'from'} ${done.folder}`]);
  return 0;
}

function list(kernels: KernelSpec[]): number {
  if (kernels.length === 0) return refuse('No Python kernel for Jupyter was found.', 1);
  const shown = ({ displayName, traces }: KernelSpec): string => `${displayName}${traces ? ', recorded' : ''}`;
  print(kernels.map(one => `${one.name.padEnd(WIDTH)}  ${shown(one).padEnd(WIDTH)}  ${one.folder}`).sort());
  return 0;
}
