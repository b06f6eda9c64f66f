import { baseName } from './format';

// Names of the libraries that call the CUDA driver, for users.

/** The maker of a file, by the begin of its name. */
const MAKERS: readonly (readonly [RegExp, string])[] = [
  [/^libnccl/, 'NCCL'],
  [/^libcublas/, 'cuBLAS'],
  [/^libcudnn/, 'cuDNN'],
  [/^libcufft/, 'cuFFT'],
  [/^libcusolver/, 'cuSOLVER'],
  [/^libcusparse/, 'cuSPARSE'],
  [/^libcurand/, 'cuRAND'],
  [/^libnvinfer/, 'TensorRT'],
  [/^libnvshmem/, 'NVSHMEM'],
  [/^libnvjpeg/, 'nvJPEG'],
  [/^(libc10|libtorch|libcaffe2)/, 'PyTorch'],
  [/^libtensorflow/, 'TensorFlow'],
  [/^(xla_extension|xla_cuda_plugin)/, 'XLA'],
  [/^(libucp|libuct|libucs)/, 'UCX'],
  [/^(libpython|python)/, 'Python'],
];
/** The same by a folder of a Python package. */
const PACKAGES: readonly (readonly [RegExp, string])[] = [
  [/\/cupy(_backends)?\//, 'CuPy'],
  [/\/numba(_cuda)?\//, 'Numba'],
  [/\/rmm\//, 'RMM'],
  [/\/jax(lib|_plugins)\//, 'JAX'],
  [/\/triton\//, 'Triton'],
  [/\/cuda\/bindings\//, 'CUDA Python'],
];

/** Whether a library, by its name, takes memory from the driver for arrays that are known by themselves. */
export const keepsArrays = (name: string | null): boolean => /^(CuPy|XLA|JAX) /.test(name ?? '');

/** Whether a library, by its name, takes memory from the driver for its own use: no variable of the program holds that. */
export const ownsItsMemory = (name: string | null): boolean =>
  /^(NCCL|cu[A-Z]+|TensorRT|NVSHMEM|nvJPEG|UCX|Triton) /.test(name ?? '');

/** Whether a library, by its name, only passes on what the program's own line requests. */
export const passesOn = (name: string): boolean => /^(CUDA Python|Numba|RMM|Python) /.test(name);

/** `NCCL (libnccl.so.2)`, `libother.so`; empty for an empty path. */
export function libraryName(path: string): string {
  const file = baseName(path);
  const maker = MAKERS.find(([begin]) => begin.test(file)) ?? PACKAGES.find(([folder]) => folder.test(path));
  return maker === undefined ? file : `${maker[1]} (${file})`;
}
