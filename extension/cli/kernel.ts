import { commandLine } from '../capture/checks/attachTarget';
import { installKernel, uninstallKernel } from '../capture/kernel/kernelSpec';
import type { KernelArguments } from './arguments/kernelArguments';
import { print, refuse } from './report/output';

/** Writes a Jupyter kernel that starts under the tracer, or removes it. Returns the exit status. */
export function kernel(options: KernelArguments, dist: string): number {
  const install = options.deed === 'install';
  const name = options.name ?? `${options.kernel ?? 'python3'}-gpu-memtrace`;
  const done = install
    ? installKernel(commandLine(dist), options, process.env)
    : uninstallKernel(name, options.place, process.env);
  if ('error' in done) return refuse(done.error, 1);
  print([`${install ? 'Installed' : 'Removed'} "${done.displayName}" ${install ? 'in' : 'from'} ${done.folder}`]);
  return 0;
}
