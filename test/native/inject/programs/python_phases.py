"""Like `inject_program phases N`, from Python: the first phase from one line, all others from another."""

import ctypes
import sys

allocator = ctypes.CDLL("libc10_cuda.so")
allocator.tell.argtypes = [ctypes.c_uint64, ctypes.c_int64] + [ctypes.c_uint64] * 3
tell = allocator.tell


def first(count):
    for place in range(count):
        tell(0x1000 + place, 512, 512, 0, 1)


def later(count):
    for place in range(count):
        tell(0x1000 + place, 512, 512, 0, 1)


phase = first
for _ in sys.stdin:
    phase(int(sys.argv[1]))
    phase = later
    print("done", flush=True)
