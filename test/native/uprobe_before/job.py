"""A job with a stand-in for PyTorch's allocator: does what the lines of its input say, and says when each is done.

   start VERSION DEVICES | allocate COUNT BYTES DEVICE | free COUNT | churn THREADS DEVICES | calm | totals DEVICES | sleep
"""

import ctypes
import json
import sys

library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL) if len(sys.argv) > 1 else None
live = []


def start(version, devices):
    library.before_allocate.argtypes = [ctypes.c_uint64, ctypes.c_int]
    library.before_allocate.restype = library.before_allocated.restype = library.before_reserved.restype = ctypes.c_uint64
    library.before_free.argtypes = [ctypes.c_uint64]
    library.before_start(version, devices)


def allocate(count, size, device):
    for i in range(count):
        live.append(library.before_allocate(size + i * 512, device))


def free(count):
    for _ in range(count):
        library.before_free(live.pop(0))


def totals(devices):
    return [[library.before_allocated(i), library.before_reserved(i)] for i in range(devices)]


def churn(threads, devices):
    library.before_churn(threads, devices)


def calm():
    library.before_calm()


COMMANDS = {command.__name__: command for command in (start, allocate, free, totals, churn, calm)}
print("ready", flush=True)
for line in sys.stdin:
    name, *numbers = line.split()
    print(json.dumps(COMMANDS[name](*map(int, numbers))), flush=True)
