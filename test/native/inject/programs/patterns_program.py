"""Random calls over the stand-ins for PyTorch's libraries: `patterns_program.py FOLDER-OF-c10 FOLDER-OF-torch LIBRARY ALLOCATIONS SEED`.
Writes [address, frames] of each allocation into truth.json. Each operation is called from `operate` or straight from a line."""

import ctypes
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "workloads"))
from call_patterns import Patterns, frames_here

c10, torch, library, wanted, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
ctypes.CDLL(os.path.join(c10, "libc10.so"), ctypes.RTLD_GLOBAL)
ctypes.CDLL(os.path.join(c10, "libc10_cuda.so"), ctypes.RTLD_GLOBAL)
ctypes.CDLL(os.path.join(torch, "libtorch_cpu.so"), ctypes.RTLD_GLOBAL)
torch_python = ctypes.PyDLL(library)  # called with the GIL, as an extension is
for function in (torch_python.operation, torch_python.held_operation):
    function.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.py_object]
    function.restype = None
operation, held_operation = torch_python.operation, torch_python.held_operation
# What real operations do: without gradients, with a node before, views, with a workspace, composed of several, into Python and back.
WORDS = (b"a", b"na", b"n", b"naa", b"ana", b"nnaan", b"aca", b"naca", b"nc", b"ncna")
truth, next_address, depth_of_callbacks = [], 1, 0


def take(words, own):
    """Numbers for the blocks of one operation."""
    global next_address
    first = next_address
    next_address += words.count(b"a")
    truth.extend((number, own) for number in range(first, next_address))
    return first


def call_back():
    """What an operation calls: code with operations of its own, from two lines."""
    global depth_of_callbacks
    if depth_of_callbacks > 1:
        return
    depth_of_callbacks += 1
    operate(patterns.random.choice(WORDS), patterns.random.random() < 0.5)
    operate(patterns.random.choice(WORDS), patterns.random.random() < 0.5)
    depth_of_callbacks -= 1


def call(words, first, held):
    (held_operation if held else operation)(words, first, call_back)


def helper(*words):
    return (lambda *inner: call(*inner))(*words)


def operate(words, held=False):
    """Straight, or as a layer does: through the same five calls whoever calls."""
    first = take(words, frames_here(2))
    if patterns.random.random() < 0.5:
        return helper(words, first, held)
    call(words, first, held)


def leaf(random):
    words = random.choice(WORDS)
    if random.random() < 0.3:
        operate(words, held=random.random() < 0.2)
    elif random.random() < 0.5:
        operate(words)
    else:
        for _ in range(4):  # one after the other, as `net(x)` with gradients and without
            operate(random.choice(WORDS))
            operate(random.choice(WORDS))


sys.setrecursionlimit(10_000)
patterns = Patterns(seed, leaf)
while next_address < wanted:
    patterns.run(patterns.random.choice((3, 10, 40, 150)))
with open("truth.json", "w") as file:
    json.dump(truth, file)
