"""Driver allocations on the simulated GPU, some more after a second, and then none."""

import ctypes
import time

driver = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
assert driver.cuInit(0) == 0
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
for _ in range(2):
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_uint64(1 << 20)) == 0
    time.sleep(1.7)
time.sleep(1.7)
