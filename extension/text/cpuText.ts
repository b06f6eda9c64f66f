import type { Translate } from './format';

/** Why a program's PyTorch can use no GPU: it is a build without one, or there is no CUDA driver. */
export type CpuReason = 'build' | 'driver';

/** In a sentence, while the program runs and when it has ended. */
export function cpuText(reason: CpuReason, running: boolean, t: Translate): string {
  if (reason === 'build')
    return running
      ? t('PyTorch runs on the CPU: torch.cuda.is_available() is False, because it was built without CUDA.')
      : t('It ran on the CPU: torch.cuda.is_available() was False, because its PyTorch was built without CUDA.');
  return running
    ? t('PyTorch runs on the CPU: torch.cuda.is_available() is False, because no CUDA driver was found (libcuda.so.1).')
    : t('It ran on the CPU: torch.cuda.is_available() was False, because no CUDA driver was found (libcuda.so.1).');
}
