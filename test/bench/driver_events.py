"""Calls of the driver in a loop, from several lines and through two calls: driver_events.py [CALLS, default 1,000,000]. What they take:
gpu-memtrace run --simulate-gpu --holders never --format none -o t.gputrace -- python3 test/bench/driver_events.py; then t.gputrace's
bytes a call."""

import ctypes
import random
import sys

driver = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
driver.cuCtxSetCurrent(context)
address = ctypes.c_uint64()
stream = ctypes.c_void_p()


def weights(size):
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
    return address.value


def activations(size):
    assert driver.cuMemAllocAsync(ctypes.byref(address), ctypes.c_size_t(size), stream) == 0
    return -address.value


def workspace(size):
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
    return address.value


def free(block):
    if block < 0:
        assert driver.cuMemFreeAsync(ctypes.c_uint64(-block), stream) == 0
    else:
        assert driver.cuMemFree_v2(ctypes.c_uint64(block)) == 0


random.seed(1)
live = []
for _ in range(int(sys.argv[1]) // 2 if len(sys.argv) > 1 else 500_000):
    live.append(random.choice((weights, activations, workspace))(512 * random.randrange(1, 4000)))
    if len(live) > 200:
        free(live.pop(random.randrange(len(live))))
for block in live:
    free(block)
