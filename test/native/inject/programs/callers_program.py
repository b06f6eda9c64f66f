"""Takes memory by several libraries; prints a list of [bytes, name of the library that a trace must give]."""

import _ctypes
import ctypes
import json
import os
import platform
import sys

BUILT = sys.argv[1]
driver = ctypes.CDLL("libcuda.so.1")
U64 = ctypes.c_uint64
wanted = []


# On x86-64, code that no library holds and functions without tables end the walk. On arm64, there is no such code here, and
# each function leaves the frame that it was called from in a register or on the stack.
UNWALKED = None if platform.machine() == "x86_64" else "libother_test.so"


def library(name):
    return ctypes.CDLL(os.path.join(BUILT, "lib%s.so" % name))


def through(by, name, function, depth=0):
    """`by`: the library that the trace must name; None: unknown."""
    wanted.append([(len(wanted) + 1) << 12, by])
    assert other.take_through(getattr(library(name), function), U64(wanted[-1][0]), U64(depth)) == 0


def direct(by, where, function, depth=0):
    wanted.append([(len(wanted) + 1) << 12, by])
    assert getattr(where, function)(U64(wanted[-1][0]), U64(depth)) == 0


def by_ctypes():
    address = U64()
    wanted.append([(len(wanted) + 1) << 12, "python"])
    assert driver.cuMemAlloc_v2(ctypes.byref(address), U64(wanted[-1][0])) == 0


def closed_and_opened():
    """Another library comes where one was."""
    for name in ("next_test", "cudart_test", "next_test"):
        one = library(name)
        direct("libnext_test.so" if name == "next_test" else "python", one, "take_deep", 1)
        _ctypes.dlclose(one._handle)


context = ctypes.c_void_p()
assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
driver.cuCtxSetCurrent(context)
closed_and_opened()
other = library("other_test")
for function in ("take", "take_deep", "take_aligned", "take_on_thread"):
    direct("libother_test.so", other, function, 3)
for runtime in ("cudart_test", "cudart_framed"):
    for function, depth in (("take", 0), ("take_deep", 30), ("take_aligned", 100), ("take_aligned", 5000)):
        through("libother_test.so", runtime, function, depth)
    through(None, runtime, "take_deep", 200)  # more frames than are walked
    through(UNWALKED, runtime, "take_generated")
through(UNWALKED, "cudart_bare", "take_deep", 3)
by_ctypes()
print(json.dumps(wanted))
