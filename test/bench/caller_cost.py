"""What one allocation of the driver costs a traced program, in ns: on the simulator, whose own work is small.

python3 test/bench/caller_cost.py LIBGPUMEMTRACE [LIBGPUMEMTRACE ...]: without a tracer, and with each of these builds.
"""

import ctypes
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SIMULATOR = os.path.join(ROOT, "build", "simulator")
BUILT = os.path.join(ROOT, "build", "native", "test", "native", "inject")
ROUNDS = 200


def measured():
    """Runs in the traced program."""
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    driver.cuCtxSetCurrent(context)
    library = ctypes.CDLL(os.path.join(BUILT, "libother_test.so"))
    library.cost.restype = ctypes.c_uint64
    runtime = ctypes.CDLL(os.path.join(BUILT, "libcudart_test.so"))  # through which a caller is looked for
    allocates = (driver.cuMemAlloc_v2, runtime.allocate_deep)
    return [library.cost(allocate, driver.cuMemFree_v2, ctypes.c_uint64(ROUNDS)) for allocate in allocates]


def run(library):
    with tempfile.TemporaryDirectory() as trace:
        more = {"LD_PRELOAD": library, "CUDA_INJECTION64_PATH": library, "GPU_MEMTRACE_DIR": trace} if library else {}
        environment = {**os.environ, "LD_LIBRARY_PATH": SIMULATOR, **more}
        script = [sys.executable, os.path.abspath(__file__), "--measure"]
        output = subprocess.run(script, env=environment, stdout=subprocess.PIPE, check=True).stdout
        return [int(word) for word in output.split()]


if sys.argv[1:] == ["--measure"]:
    print(*measured())
else:
    for library in [None] + [os.path.abspath(path) for path in sys.argv[1:]]:
        direct, deep = (sorted(times) for times in zip(*(run(library) for _ in range(5))))
        print("direct %4d ns %s   20 frames deeper %4d ns %s   %s" % (direct[2], direct, deep[2], deep, library or "-"))
