"""For programs of these tests: begins a trace by an allocation as a GPU's allocator reports it, and asks the agent as a launcher does."""

import ctypes
import gc
import glob
import json
import os
import sys
import time

REPORT = ("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE")
FOLDER = os.environ.get("GPU_MEMTRACE_DIR", "")
HANG_S = 300  # what has not come by then never comes, however busy the machine is


def leave_compiler_out():
    """PyTorch is without its compiler where a test says so."""
    if "GMT_NO_COMPILER" in os.environ:
        sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "torch"))
        import no_compiler  # noqa: F401


def report(address, size, device=1, reserved=2 << 20):
    """`size` bytes at `address` of GPU 0 are given out, or taken back where it is negative. Nothing without the tracer."""
    program = ctypes.CDLL(None)
    for name in REPORT:
        if hasattr(program, name):
            function = getattr(program, name)
            function.argtypes = [ctypes.c_uint64, ctypes.c_int64] + [ctypes.c_uint64] * 3
            function(address, size, 512, reserved, device)
            return


def agent_is_here():
    return any("gpu_memtrace" in repr(entry) for entry in gc.callbacks)


def wait(condition, seconds=HANG_S):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)
    return condition()


def begin(seconds=HANG_S):
    """The first event of a trace, and the agent's start. False: there is no agent."""
    report(0x1000, 512)
    return wait(agent_is_here, seconds)


def answered(number):
    """Whether this process's log has the answer."""
    return logged(b'"request": %d,' % number)


def logged(text):
    """Whether this process's log has the bytes."""
    for path in glob.glob(os.path.join(FOLDER, "%d-*.gmtlog" % os.getpid())):
        with open(path, "rb") as log:
            if text in log.read():
                return True
    return False


def ask(number, do, wait_for_it=True, **more):
    """A request, as a launcher writes it. False: no answer came."""
    draft = os.path.join(FOLDER, "draft-%d" % number)
    with open(draft, "w") as file:
        json.dump(dict({"id": number, "pid": os.getpid(), "do": do}, **more), file)
    os.rename(draft, os.path.join(FOLDER, "request-%d.json" % number))
    return not wait_for_it or wait(lambda: answered(number))
