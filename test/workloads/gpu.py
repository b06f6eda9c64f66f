"""What the workloads allocate with: PyTorch, or a simulated or real CUDA driver through ctypes.

GPU_MEMTRACE_WORKLOAD chooses: `torch` = PyTorch on a real GPU, `driver` = cuMemAlloc itself, else the small
caching allocator of the project's simulator (libc10_cuda.so), on whatever libcuda.so.1 the process finds.

`empty(bytes, device=0)` gives a block that lives as long as the object it returns. It is a C function on every
way, so the innermost Python frame of an allocation is the caller's line.
"""

import ctypes
import functools
import json
import os
import sys
import threading

MIB = 1 << 20
BACKEND = os.environ.get("GPU_MEMTRACE_WORKLOAD", "allocator")
_HERE = os.path.dirname(os.path.abspath(__file__))
_BUILT = os.path.join(_HERE, "..", "..", "dist", "native", "simulator")

told = False  # True once a workload told its facts: from then on no block is freed, so that what it told stays true
stacks_wanted = False  # True: every block remembers the Python stack that allocated it


class OutOfMemory(RuntimeError):
    """The GPU has no room for a block."""


def fail(sentence):
    """Ends the program with one sentence on stderr."""
    sys.stderr.write(sentence + "\n")
    sys.exit(1)


def load_driver():
    """libcuda.so.1 through ctypes."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        fail(
            "No libcuda.so.1 here: this machine has no NVIDIA driver. "
            "Run the script with `gpu-memtrace run --simulate-gpu -- ...`."
        )


def _folder_of_driver():
    """Folder of the libcuda.so.1 that this process loaded: the simulated one has its allocator beside it."""
    with open("/proc/self/maps") as maps:
        paths = (line.rstrip("\n").split(None, 5)[-1] for line in maps)
        return next((os.path.dirname(path) for path in paths if os.path.basename(path) == "libcuda.so.1"), None)


class Tensor(int):
    """A block of device memory; its value is its address. Freed with its last reference (until `told`), or by free()."""

    size = 0  # bytes asked for
    rounded = 0  # bytes handed out
    stack = ()
    freed = False

    def data_ptr(self):
        return int(self)

    def __del__(self):
        if not told:
            free(self)


def _make_tensor(address, requested, rounded):
    tensor = Tensor(address)
    tensor.size, tensor.rounded = requested, rounded
    if stacks_wanted:
        tensor.stack = caller_stack(2)
    return tensor


def caller_stack(depth=1):
    """The Python stack as [file, line, function], innermost first, without this module's frames."""
    frame = sys._getframe(depth)
    stack = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename != __file__:
            stack.append([code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)])
        frame = frame.f_back
    return stack


def _open_allocator():
    load_driver()  # first, so that libc10_cuda.so uses this very one
    folders = [os.environ.get("GPU_MEMTRACE_SIMULATOR"), _folder_of_driver(), _BUILT]
    paths = [os.path.join(folder, "allocator", "libc10_cuda.so") for folder in folders if folder]
    path = next(filter(os.path.exists, paths), None)
    if path is None:
        fail("The simulator's libc10_cuda.so is not built: run `npm run build` first.")
    library = ctypes.CDLL(path)
    if library.sim_torch_device_count() == 0:
        fail("The CUDA driver of this machine finds no GPU.")

    def made(address, _function, arguments):
        if not address:
            raise OutOfMemory("CUDA out of memory. Tried to allocate %.2f MiB" % (arguments[0] / MIB))
        return _make_tensor(address, arguments[0], library.sim_torch_block_bytes(address))

    prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int)
    empty = prototype(("sim_torch_empty", library), ((1, "bytes"), (1, "device", 0)))
    empty.errcheck = made
    library.sim_torch_free.argtypes = [ctypes.c_void_p]
    library.sim_torch_block_bytes.argtypes = [ctypes.c_void_p]
    library.sim_torch_block_bytes.restype = ctypes.c_uint64
    return empty, library.sim_torch_free, library.sim_torch_empty_cache, library


def _open_driver():
    library = load_driver()
    context = ctypes.c_void_p()
    count = ctypes.c_int()
    if library.cuInit(0) != 0 or library.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        fail("The CUDA driver of this machine finds no GPU.")
    library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    library.cuCtxSetCurrent(context)
    _driver_context.append(context)

    def made(result, _function, arguments):
        if result == 2:
            raise OutOfMemory("cuMemAlloc: out of memory for %.2f MiB" % (arguments[1] / MIB))
        if result != 0:
            raise RuntimeError("cuMemAlloc failed with CUresult %d" % result)
        return _make_tensor(arguments[0].value, arguments[1], arguments[1])

    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64)
    empty = prototype(("cuMemAlloc_v2", library), ((2, "address"), (1, "bytes")))
    empty.errcheck = made
    library.cuMemFree_v2.argtypes = [ctypes.c_uint64]
    return empty, library.cuMemFree_v2, lambda: None, library


_driver_context = []


def _open_torch():
    try:
        import torch
    except ImportError:
        fail("GPU_MEMTRACE_WORKLOAD=torch, but PyTorch cannot be imported by %s." % sys.executable)
    if not torch.cuda.is_available():
        fail("GPU_MEMTRACE_WORKLOAD=torch, but PyTorch finds no GPU.")
    return functools.partial(torch.empty, dtype=torch.uint8, device=0), None, torch.cuda.empty_cache, torch


if BACKEND == "torch":
    empty, _free, empty_cache, _library = _open_torch()
elif BACKEND == "driver":
    empty, _free, empty_cache, _library = _open_driver()
else:
    empty, _free, empty_cache, _library = _open_allocator()


def attach_thread():
    """Makes the GPU usable in the calling thread (needed by the driver way only)."""
    if _driver_context:
        _library.cuCtxSetCurrent(_driver_context[0])


def free(tensor):
    """Frees a block now. Doing it twice, or dropping the object later, does nothing more."""
    if not isinstance(tensor, Tensor):
        tensor.untyped_storage().resize_(0)
    elif not tensor.freed:
        tensor.freed = True
        _free(int(tensor))


def rounded_bytes(tensor):
    """What the allocator hands out for it (with PyTorch: at least that; a block's rest of up to 1 MiB stays with it)."""
    if isinstance(tensor, Tensor):
        return tensor.rounded
    return max(512, (tensor.numel() * tensor.element_size() + 511) // 512 * 512)


def name_thread(name):
    """Names the calling thread for the kernel (at most 15 bytes), as /proc and the tracer see it."""
    ctypes.CDLL(None).prctl(15, name.encode()[:15], 0, 0, 0)


def thread_name():
    with open("/proc/self/task/%d/comm" % threading.get_native_id()) as comm:
        return comm.read().rstrip("\n")


_STATS = (
    "allocations",
    "frees",
    "liveBytes",
    "allocatedBytes",
    "freedBytes",
    "segmentsAllocated",
    "segmentsFreed",
    "reservedBytes",
    "outOfMemory",
)
_TORCH_STATS = (
    "allocation.all.allocated",
    "allocation.all.freed",
    "allocated_bytes.all.current",
    "allocated_bytes.all.allocated",
    "allocated_bytes.all.freed",
    "segment.all.allocated",
    "segment.all.freed",
    "reserved_bytes.all.current",
    "num_ooms",
)


def stats(device=0):
    """The allocator's own counts; {} where there is none (the driver way)."""
    if BACKEND == "torch":
        known = _library.cuda.memory_stats(device)
        return {name: known.get(key, 0) for name, key in zip(_STATS, _TORCH_STATS)}
    if BACKEND == "driver":
        return {}
    numbers = (ctypes.c_uint64 * len(_STATS))()
    _library.sim_torch_stats(device, numbers)
    return dict(zip(_STATS, numbers))


# What is alive by a workload's word stays alive until the interpreter ends, whatever goes out of scope before.
_alive = {}


class Truth:
    """What a workload knows of its own allocations; report() prints it as one line of JSON."""

    def __init__(self, workload):
        self.workload = workload
        self.lock = threading.Lock()
        self.live = {}
        self.threads = {}
        self.allocations = 0
        self.frees = 0

    def keep(self, tensor, device=0):
        """Counts an allocation of the calling thread."""
        tid = threading.get_native_id()
        entry = {"address": "0x%x" % tensor.data_ptr(), "bytes": rounded_bytes(tensor), "device": device, "tid": tid}
        if getattr(tensor, "stack", None):
            entry["file"], entry["line"], entry["function"] = tensor.stack[0]
        with self.lock:
            if tid not in self.threads:
                self.threads[tid] = thread_name()
            self.live[tensor.data_ptr()] = entry
            _alive[tensor.data_ptr()] = tensor
            self.allocations += 1
        return tensor

    def drop(self, tensor):
        """Counts a free, to be called before it happens."""
        with self.lock:
            del self.live[tensor.data_ptr()], _alive[tensor.data_ptr()]
            self.frees += 1

    def facts(self, **more):
        """Everything known now, as one JSON object. Blocks that are alive stay alive."""
        global told
        told = True
        with self.lock:
            live = sorted(self.live.values(), key=lambda entry: -entry["bytes"])
            facts = {
                "workload": self.workload,
                "backend": BACKEND,
                "pid": os.getpid(),
                "allocations": self.allocations,
                "frees": self.frees,
                "liveBytes": sum(entry["bytes"] for entry in live),
                "live": live,
                "threads": [{"tid": tid, "name": name} for tid, name in sorted(self.threads.items())],
                "stats": stats(),
            }
        facts.update(more)
        return facts

    def report(self, **more):
        """Prints the facts as the last line of stdout."""
        sys.stdout.flush()
        print(json.dumps(self.facts(**more)), flush=True)
