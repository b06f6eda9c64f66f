"""Tensors beside a library that calls the driver by itself, from a line and from a thread of its own without Python.

libraries.py LIBRARY [--rounds N]: LIBRARY is the built libother_test.so. Each round leaves 1 MiB of the library's alive.
"""

import argparse
import ctypes
import json

import gpu

U64 = ctypes.c_uint64
parser = argparse.ArgumentParser()
parser.add_argument("library")
parser.add_argument("--rounds", type=int, default=60)
options = parser.parse_args()

weights = gpu.empty(30 * gpu.MIB)
library = ctypes.CDLL(options.library)
assert library.take(U64(5 * gpu.MIB), U64(0)) == 0
driver = gpu.load_driver()
address = U64()
assert driver.cuMemAlloc_v2(ctypes.byref(address), U64(3 * gpu.MIB)) == 0  # the program's own, through ctypes
for _ in range(options.rounds):
    batch = gpu.empty(2 * gpu.MIB)
    activation = gpu.empty(gpu.MIB)
    assert library.take_on_thread(U64(gpu.MIB), U64(1)) == 0
    del batch, activation
gpu.told = True
print(json.dumps({"library": (5 + options.rounds) * gpu.MIB, "program": 3 * gpu.MIB}))
