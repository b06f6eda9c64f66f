"""Starts a recording of this process, and saves it. Nothing is imported that a program would notice."""

import atexit
import ctypes
import fcntl
import glob
import json
import os
import re
import struct
import subprocess
import sys
import time
from subprocess import DEVNULL
from typing import TYPE_CHECKING, List, Optional, Tuple

from ._files import lock_file, new_folder, part_of, remove, remove_folder, write_whole

if TYPE_CHECKING:
    from ._questions import Questions

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "native", "libgpumemtrace.so")
RECORDER = os.path.join(HERE, "native", "gpu-memtrace-recorder")
PRODUCT = "gpu-memory-trace"
GB = 1 << 30
NOT_INITIALIZED = 3  # CUDA_ERROR_NOT_INITIALIZED
CONTROL = struct.pack("<III52x", 0x4C54434D, 1, 1)  # struct gmt_control: recording is on
START_OFFSET = 56  # start_realtime_ns of struct gmt_file_header
END = ".end"  # of the file beside a trace directory that has where the trace goes: never in it, where others may write
HOW = "Enter gpu_memtrace.Tracker before the first CUDA call, or start the program with GPU_MEMTRACE=1 in its environment."


class NotRecorded(RuntimeError):
    """This process cannot be recorded, or its figures are not available."""


def command_line() -> List[str]:
    """The words that started this process; `sys.argv` has them too late, and changed."""
    return part_of("/proc/self/cmdline").decode(errors="replace").split("\0")[:-1]


class Recording:
    """A trace directory that this process records into."""

    def __init__(self, directory: str, owner: bool) -> None:
        self.directory = directory
        self.pid = os.getpid()
        self.owner = owner  # this process made it, and saves it
        self.end = ""
        self.waiting: List[Tuple[str, int]] = []  # marks of before the first log
        self._questions: "Optional[Questions]" = None

    def logs(self) -> List[str]:
        """One for each process that has used the GPU."""
        return [os.path.join(self.directory, name) for name in os.listdir(self.directory) if name.endswith(".gmtlog")]

    def check(self) -> None:
        """Raises where the process uses the GPU unseen."""
        if not seen():
            raise NotRecorded("This process uses CUDA, but it is not recorded, because it used CUDA before recording began. " + HOW)

    def questions(self) -> "Questions":
        from ._questions import Questions

        self.check()
        if self._questions is None:
            self._questions = Questions(RECORDER, self.directory, self.pid)
        return self._questions

    def mark(self, name: str) -> None:
        self.waiting.append((str(name)[:200], time.time_ns()))
        self.write_marks()

    def write_marks(self) -> None:
        """As times of the trace, which begin with its first log; until then they wait."""
        starts = [int.from_bytes(part_of(log, START_OFFSET, 8), "little") for log in self.logs()]
        zero = min((each for each in starts if each), default=0)
        if not zero or not self.waiting:
            return
        file = os.path.join(self.directory, "session.json")
        with os.fdopen(lock_file(os.path.join(self.directory, "marks")), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # other processes of the trace mark too
            session = json.loads(part_of(file))
            session.setdefault("marks", []).extend({"name": name, "timeNs": max(0, at - zero)} for name, at in self.waiting)
            write_whole(file, json.dumps(session) + "\n")
        self.waiting = []

    def step(self) -> None:
        try:
            # With the GIL, and only where it is in the process already.
            library = ctypes.PyDLL(os.environ.get("CUDA_INJECTION64_PATH", LIBRARY), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            library.gpu_memtrace_step()
        except (OSError, AttributeError):
            pass  # nothing has used the GPU yet

    def at_end(self, file: str) -> str:
        """Where the trace goes should the program be killed; empty: nowhere. Gives where it would have gone."""
        before, self.end = self.end, file
        if self.owner:
            write_whole(self.directory + END, file)
        return before

    def save(self, file: str) -> bool:
        """Saves what is recorded so far. False: nothing has used the GPU."""
        self.check()
        if not self.logs():
            return False
        self.write_marks()
        done = subprocess.run([RECORDER, self.directory, "--save", file], stderr=subprocess.PIPE, env={})
        if done.returncode != 0:
            raise NotRecorded(done.stderr.decode(errors="replace").strip())
        return True

    def close(self) -> None:
        """The trace is not needed any more; the recorder ends with its directory."""
        global _current
        if self._questions is not None:
            self._questions.close()
            self._questions = None
        if self.owner and os.getpid() == self.pid:
            self.owner = False
            remove_folder(self.directory)
            remove(self.directory + END)
        _current = None


_current: Optional[Recording] = None


def current() -> Optional[Recording]:
    """The recording of this process, or of the one that it was forked from; None: there is none."""
    global _current
    directory = os.environ.get("GPU_MEMTRACE_DIR")
    if _current is not None and (_current.pid != os.getpid() or _current.directory != directory):
        _current = None
    if _current is None and directory and os.path.isdir(directory):
        _current = Recording(directory, owner=False)
    return _current


def join() -> Optional[Recording]:
    """The same, where it sees what this process does on the GPU."""
    recording = current()
    return recording if recording is not None and seen() else None


def start(*, holders: bool, limits: Optional[Tuple[int, int]] = None, copies: Optional[Tuple[str, int]] = None) -> Recording:
    """Begins one in a directory of its own. `limits`: the most bytes of its files, and of the newest events, which stay in full. `copies`:
    where a copy is saved, every so many seconds, as long as there is a file `copies` in the directory."""
    global _current
    if cuda_is_up():
        raise NotRecorded("This process already uses CUDA, so its memory can no longer be recorded. " + HOW)
    if not os.access(RECORDER, os.X_OK):
        raise NotRecorded("%s is missing. Reinstall gpu-memtrace." % RECORDER)
    directory, limit = make_directory()
    limit, detail = min(limit, limits[0]) if limits else limit, limits[1] if limits else min(GB // 2, limit // 4)
    session = {
        "version": 1,
        "command": [],  # the process has written its own, without secrets
        "cwd": os.getcwd(),
        "startedRealtimeMs": int(time.time() * 1000),
        "backend": "inject",
        "processes": [{"pid": os.getpid(), "exitCode": None}],
    }
    write_whole(os.path.join(directory, "session.json"), json.dumps(session) + "\n")
    write_whole(os.path.join(directory, "control"), CONTROL)
    if holders:
        write_whole(os.path.join(directory, "at-exit.json"), json.dumps({"budgetMs": 500, "sample": 200, "steps": True}))
    other = os.environ.get("CUDA_INJECTION64_PATH")
    cupti = os.environ.get("GPU_MEMTRACE_CUPTI") or find_cupti()
    os.environ.update(GPU_MEMTRACE_DIR=directory, CUDA_INJECTION64_PATH=LIBRARY, GPU_MEMTRACE_BUDGET=str(limit))
    if other and other != LIBRARY:
        os.environ["GPU_MEMTRACE_CHAIN"] = other
    if cupti:
        os.environ["GPU_MEMTRACE_CUPTI"] = cupti
    # As if it were preloaded, for a PyTorch that comes when CUDA is there already; children have it preloaded.
    ctypes.CDLL(LIBRARY, mode=os.RTLD_GLOBAL | os.RTLD_NOW)
    os.environ["LD_PRELOAD"] = ":".join(filter(None, [LIBRARY, os.environ.get("LD_PRELOAD")]))
    words = [RECORDER, directory, "--background", "--budget", str(limit), "--detail", str(detail), "--end", directory + END]
    if copies:
        write_whole(os.path.join(directory, "copies"), "")
        words += ["--copy", copies[0], "--every", str(copies[1])]
    _current = Recording(directory, owner=True)
    _current.at_end("")
    subprocess.run(words, env={}, cwd="/", stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    atexit.register(_current.close)
    return _current


def cache_folder() -> str:
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), PRODUCT)


def budget() -> int:
    """The bytes of GPU_MEMTRACE_BUDGET; 0: it says none."""
    setting = os.environ.get("GPU_MEMTRACE_BUDGET", "")
    return int(setting) if re.fullmatch("[0-9]{1,18}", setting) else 0


def make_directory() -> "Tuple[str, int]":
    """A new folder that only we can read, where live traces are looked for, and the bytes that its files may take."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    reasons = []
    for root in ([os.path.join(runtime, PRODUCT)] if runtime else []) + [os.path.join(cache_folder(), "live")]:
        try:
            directory = new_folder(root)
        except OSError as error:
            reasons.append(str(error))
            continue
        about = os.statvfs(root)
        room = about.f_bavail * about.f_frsize // (4 if root.startswith("/run/") else 2)  # there it is memory
        return directory, budget() or min(2 * GB, room)
    raise NotRecorded("No trace directory can be created (%s); set XDG_CACHE_HOME to a writable folder." % "; ".join(reasons))


def mapped(name: str) -> Optional[str]:
    """The library's path, where this process has loaded it."""
    lines = part_of("/proc/self/maps").decode(errors="replace").splitlines()
    return next((line.split(None, 5)[-1] for line in lines if name in line), None)


def seen() -> bool:
    """What this process does on the GPU is recorded, or will be."""
    return mapped("/libgpumemtrace.so") is not None or not cuda_is_up()


def cuda_is_up() -> bool:
    """Whether this process has initialised CUDA: from then on a driver loads no tracer."""
    path = mapped("/libcuda.so")
    try:
        driver = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW) if path else None
    except OSError:
        return False
    return driver is not None and driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != NOT_INITIALIZED


def why_none() -> str:
    """Why this process leaves no trace."""
    here = "GPU_MEMTRACE_SIMULATOR" in os.environ or os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg")
    return "this program did not use a GPU." if here else "this machine has no NVIDIA GPU (there is no /dev/nvidiactl)."


def find_cupti() -> Optional[str]:
    """The newest libcupti of the framework, else of a toolkit."""
    folders = [os.path.join(path, "nvidia/*/lib") for path in sys.path]
    folders += [os.path.join(os.environ[name], "lib*") for name in ("CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    folders += ["/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64"]
    found = (sorted(glob.glob(os.path.join(folder, "libcupti.so.[0-9][0-9]"))) for folder in folders)
    return next((each[-1] for each in found if each), None)
