"""Reports of a stand-in for PyTorch's allocator: `tensor_program.py FOLDER [LIBRARY]`. With LIBRARY the tracer is loaded as the
driver does it, after the allocator. Ends with an error where an argument did not come through whole."""

import ctypes
import os
import sys

U64, I64 = ctypes.c_uint64, ctypes.c_int64
MASK = (1 << 64) - 1
CUDA, CPU = 1, 0


def device(kind, index):
    return kind | index << 8


folder = sys.argv[1]
allocator = ctypes.CDLL(os.path.join(folder, "libc10_cuda.so"))  # RTLD_LOCAL, as Python imports extensions
c10 = ctypes.CDLL(os.path.join(folder, "libc10.so"))
seen = (U64 * 6).in_dll(c10, "c10_seen")
allocator.tell.argtypes = [U64, I64, U64, U64, U64]
allocator.tell.restype = None
allocator.tell_oom.argtypes = [I64, U64, U64, U64]
allocator.tell_oom.restype = None
if len(sys.argv) > 2:
    allocator.tell(0x900, 512, 512, 4096, device(CUDA, 0))  # before the tracer: not recorded, and its slot is bound
    assert ctypes.CDLL(sys.argv[2]).InitializeInjection() == 1


def came_through(*arguments):
    wanted = [value & MASK for value in arguments]
    assert list(seen)[:5] == wanted, (list(seen), wanted)


def tell(*arguments):
    before = seen[5]
    allocator.tell(*arguments)
    assert seen[5] == before + 1, "the function itself was not called once"
    came_through(*arguments)


tell(0x1000, 512, 512, 2 << 20, device(CUDA, 0))
tell(0x2000, 1024, 1024, 6 << 20, device(CUDA, 1))
tell(0x1000, -512, 0, 2 << 20, device(CUDA, 0))
tell(0x3000, 256, 256, 1 << 20, device(CPU, 0))
tell(0x3000, 256, 256, 1 << 20, device(20, 0))
tell(0x4000, 0, 256, 9 << 20, device(CUDA, 0))
tell(0x5000, 100, 100, 4 << 20, device(CUDA, 0))
tell(MASK - 4095, (1 << 47), 1 << 47, 1 << 47, device(CUDA, 7))
allocator.tell_oom(1 << 40, 100, 4 << 20, device(CUDA, 1))
came_through(0, 1 << 40, 100, 4 << 20, device(CUDA, 1))
allocator.tell_oom(1 << 40, 100, 4 << 20, device(CPU, 0))
