"""Forward passes on three Python threads, each by a function of its own, and backward passes on threads without Python, where hooks
allocate. Prints for each allocation the number of the node that ran and the function that made it."""

import ctypes
import json
import sys
import threading

import torch

LIBC10 = torch.__file__.replace("__init__.py", "lib/libc10.so")
LIBTORCH = LIBC10.replace("libc10", "libtorch_cpu")
REPORT = ("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE")
BACKWARDS = ("St8optionalIbEbS7_", "N3c108optionalIbEEbS7_")

helper = ctypes.CDLL(sys.argv[1])
helper.run_backward.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
helper.allocate.argtypes = [ctypes.py_object]
helper.allocate.restype = None


def function(libraries, names):
    """The first of these; a preloaded library's own come first."""
    for library in map(ctypes.CDLL, libraries):
        for name in names:
            if hasattr(library, name):
                return ctypes.cast(getattr(library, name), ctypes.c_void_p)
    raise SystemExit("this PyTorch has none of " + ", ".join(names))


def double(x):
    return x * 2


def halve(x):
    return x / 2


def raise_it(x):
    return x + 3


def train(forward, place, told):
    for _ in range(place):  # so that the threads' numbers differ
        forward(torch.ones(2, requires_grad=True))
    x = torch.ones(4, requires_grad=True)
    made = []
    for _ in range(5):
        x = forward(x)
        x.register_hook(helper.allocate)
        made.append(x.grad_fn._sequence_nr())
    loss = x.sum()
    all_made.wait()
    address = 0x100000 * (place + 1)
    helper.run_backward(backward, loss._cdata, address)
    for number in reversed(made):
        told.append([address, number, forward.__name__])
        address += 1024


report = function((None, LIBC10), REPORT)
backward = function((LIBTORCH,), ["_ZN5torch8autograd8backwardERKSt6vectorIN2at6TensorESaIS3_EES7_" + end for end in BACKWARDS])
helper.set_report.argtypes = [ctypes.c_void_p]
helper.set_report(report)
ctypes.cast(report, ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 5))(0x1000, 512, 512, 2 << 20, 1)  # the log begins
told, all_made = [], threading.Barrier(3)
threads = [
    threading.Thread(target=train, args=(forward, place, told)) for place, forward in enumerate((double, halve, raise_it))
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(told))
