"""A job with a stand-in for PyTorch's allocator: does what the lines of its input say, and says when each is done.

   start VERSION DEVICES | allocate COUNT BYTES DEVICE | free COUNT | churn THREADS DEVICES | calm | totals DEVICES |
   pretend_torch DEVICES | idle MILLISECONDS
"""

import ctypes
import json
import sys
import time
import types

library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL) if len(sys.argv) > 1 else None
live, sizes, places = [], {}, {}


def start(version, devices):
    library.before_allocate.argtypes = [ctypes.c_uint64, ctypes.c_int]
    library.before_allocate.restype = library.before_allocated.restype = library.before_reserved.restype = ctypes.c_uint64
    library.before_free.argtypes = [ctypes.c_uint64]
    library.before_start(version, devices)


def allocate(count, size, device):
    for i in range(count):
        at = library.before_allocate(size + i * 512, device)
        live.append(at)
        sizes[at], places[at] = (size + i * 512 + 511) // 512 * 512, device


def free(count):
    for _ in range(count):
        library.before_free(live.pop(0))


def totals(devices):
    return [[library.before_allocated(i), library.before_reserved(i)] for i in range(devices)]


def churn(threads, devices):
    library.before_churn(threads, devices)


def calm():
    library.before_calm()


def pretend_torch(devices):
    """A torch that tells what is alive, as PyTorch does."""
    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(memory_snapshot=lambda: [snapshot(device) for device in range(devices)])
    sys.modules["torch"] = torch


def snapshot(device):
    taken = [{"address": at, "size": sizes[at], "state": "active_allocated"} for at in live if places[at] == device]
    blocks = [*taken, {"address": 1 << 40, "size": 512, "state": "inactive"}]
    return {"address": (device + 1) << 30, "total_size": 4096, "device": device, "blocks": blocks}


def idle(milliseconds):
    """Runs, so that the interpreter comes by its safe points."""
    end = time.monotonic() + milliseconds / 1000
    while time.monotonic() < end:
        time.sleep(0.001)


COMMANDS = {command.__name__: command for command in (start, allocate, free, totals, churn, calm, pretend_torch, idle)}
print("ready", flush=True)
for line in sys.stdin:
    name, *numbers = line.split()
    print(json.dumps(COMMANDS[name](*map(int, numbers))), flush=True)
