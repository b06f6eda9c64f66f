"""Two driver allocations, then the end that the argument names."""

import ctypes
import os
import sys

driver = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
assert driver.cuInit(0) == 0
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
for size in (1 << 20, 2 << 20):
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_uint64(size)) == 0
if sys.argv[1] == "sys.exit":
    sys.exit(3)
if sys.argv[1] == "raise":
    raise RuntimeError("as wanted")
if sys.argv[1] == "os._exit":
    os._exit(4)
