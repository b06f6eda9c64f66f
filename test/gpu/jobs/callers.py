"""Memory that others than PyTorch's cache take of the driver: ctypes, a small library of its own, cuBLAS, NCCL, CuPy, each where
it is to be had. Tells what each took by the device's own count (bytes), null where it could not be tried."""
import ctypes
import os
import shutil
import subprocess
import tempfile

import torch
import truth

MIB = 1 << 20
OWN_SOURCE = """
#include <stddef.h>
int own_take(int (*allocate)(void **, size_t), size_t bytes) {
  void *address = 0;
  volatile int result = allocate(&address, bytes);
  return result;
}
"""
U64 = ctypes.c_uint64
kept = []


def mapped(beginning):
    """Path of a library that this process has mapped, by the begin of its file name."""
    with open("/proc/self/maps") as maps:
        paths = {line.rstrip("\n").split(None, 5)[-1] for line in maps if "/" in line}
    return next((path for path in sorted(paths) if os.path.basename(path).startswith(beginning)), None)


def free_bytes():
    torch.cuda.synchronize()
    return torch.cuda.mem_get_info()[0]


def taken_by(work):
    """Bytes that the device has less after `work`, or null and why."""
    before = free_bytes()
    try:
        work()
    except Exception as error:  # noqa: BLE001: what cannot be tried here is said
        return None, "%s: %s" % (type(error).__name__, error)
    return before - free_bytes(), ""


def by_runtime():
    """cudaMalloc of the runtime that PyTorch has loaded."""
    runtime = ctypes.CDLL(mapped("libcudart.so") or "libcudart.so")
    address = ctypes.c_void_p()
    assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(64 * MIB)) == 0


def by_driver():
    address = U64()
    assert ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2(ctypes.byref(address), U64(32 * MIB)) == 0


def by_own_library():
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise OSError("no C compiler")
    folder = tempfile.mkdtemp(prefix="gmt-own-")
    source, library = os.path.join(folder, "own.c"), os.path.join(folder, "libown_test.so")
    with open(source, "w") as out:
        out.write(OWN_SOURCE)
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    runtime = ctypes.CDLL(mapped("libcudart.so") or "libcudart.so")
    assert ctypes.CDLL(library).own_take(runtime.cudaMalloc, ctypes.c_size_t(48 * MIB)) == 0


def by_cublas():
    """A product without PyTorch's workspace: cuBLAS takes one of its own."""
    blas = ctypes.CDLL(mapped("libcublas.so"))
    handle, one = ctypes.c_void_p(), ctypes.c_float(1)
    assert blas.cublasCreate_v2(ctypes.byref(handle)) == 0
    matrix, size = torch.ones(2048, 2048, device="cuda"), ctypes.c_int(2048)
    kept.extend([matrix, torch.empty_like(matrix)])
    at, to = (ctypes.c_void_p(tensor.data_ptr()) for tensor in kept[-2:])
    scale = ctypes.byref(one)
    assert blas.cublasSgemm_v2(handle, 0, 0, size, size, size, scale, at, size, at, size, scale, to, size) == 0


def by_nccl():
    import torch.distributed as dist

    store = os.path.join(tempfile.mkdtemp(prefix="gmt-store-"), "store")
    dist.init_process_group("nccl", init_method="file://" + store, rank=0, world_size=1)
    summed = torch.ones(1 << 20, device="cuda")
    kept.append(summed)
    dist.all_reduce(summed)


def by_cupy():
    import cupy

    kept.append(cupy.zeros(1 << 20))


for step in range(3):
    kept.append(torch.randn(512, 512, device="cuda") @ torch.randn(512, 512, device="cuda"))
works = {"runtime": by_runtime, "driver": by_driver, "own": by_own_library, "cublas": by_cublas, "nccl": by_nccl, "cupy": by_cupy}
taken = {name: taken_by(work) for name, work in works.items()}
torch.cuda.synchronize()
truth.write(taken=taken, nccl_library=mapped("libnccl"), stats=truth.memory_stats())
os._exit(0)  # NCCL's end would take its memory away
