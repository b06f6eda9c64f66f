// A Python script that talks to the CUDA driver alone, for tests: what its body keeps stands in the table.

/** The line where the body begins. */
export const FIRST = 9;

/** @param {string} body uses `allocate(ctypes.byref(address), ctypes.c_size_t(bytes))` and `cuda` */
export const driverScript = body => `import ctypes, os, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
address = ctypes.c_uint64()
allocate = cuda.cuMemAlloc_v2
${body}`;
