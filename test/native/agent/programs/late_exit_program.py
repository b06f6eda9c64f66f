"""Uses the GPU, and ends with C code that outlives the interpreter: `late_exit_program.py LIBRARY`."""

import ctypes
import sys

driver = ctypes.CDLL("libcuda.so.1")
driver.cuInit(0)
context, address = ctypes.c_void_p(), ctypes.c_uint64()
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxSetCurrent(context)
driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(1 << 20))
assert ctypes.CDLL(sys.argv[1]).stay_on_exit() == 0
sys.exit(7)
