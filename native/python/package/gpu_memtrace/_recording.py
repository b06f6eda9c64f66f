"""Starts a recording of this process, and saves it. Nothing is imported that a program would notice."""

import atexit
import ctypes
import fcntl
import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Dict, List, Optional

if TYPE_CHECKING:
    from ._questions import Questions

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "native", "libgpumemtrace.so")
RECORDER = os.path.join(HERE, "native", "gpu-memtrace-recorder")
PRODUCT = "gpu-memory-trace"
GB = 1 << 30
NOT_INITIALIZED = 3  # CUDA_ERROR_NOT_INITIALIZED
CONTROL = struct.Struct("<IIIIQQ32x")  # struct gmt_control
CONTROL_MAGIC = 0x4C54434D
START_OFFSET = 56  # start_realtime_ns of struct gmt_file_header
HOW = "Enter gpu_memtrace.Tracker before the first CUDA call, or start the program with GPU_MEMTRACE=1 in its environment."


class NotRecorded(RuntimeError):
    """Why this process cannot be recorded, or what was recorded cannot be told."""


class Recording:
    """A trace directory that this process records into."""

    def __init__(self, directory: str, owner: bool) -> None:
        self.directory = directory
        self.pid = os.getpid()
        self.owner = owner  # this process made it, and saves it
        self.waiting: List[Dict[str, object]] = []  # marks of before the first log
        self._questions: "Optional[Questions]" = None

    def begun(self) -> bool:
        """This process has used the GPU, and that is recorded."""
        return any(name.startswith("%d-" % self.pid) and name.endswith(".gmtlog") for name in os.listdir(self.directory))

    def check(self) -> None:
        """Raises where the process uses the GPU unseen."""
        if cuda_is_up() and not self.begun():
            raise NotRecorded("This process uses CUDA, but it is not recorded: CUDA was there before the recording. " + HOW)

    def questions(self) -> "Questions":
        from ._questions import Questions

        self.check()
        if self._questions is None:
            self._questions = Questions(RECORDER, self.directory, self.pid)
        return self._questions

    def records(self) -> bool:
        with open(os.path.join(self.directory, "control"), "rb") as file:
            return CONTROL.unpack(file.read(CONTROL.size))[2] == 1

    def record(self, on: bool) -> None:
        """Switches it on or off, for all processes of the trace."""
        with open(os.path.join(self.directory, "control"), "r+b") as file, mmap.mmap(file.fileno(), CONTROL.size) as words:
            recording, generation = struct.unpack_from("<II", words, 8)
            if recording != int(on):
                struct.pack_into("<I", words, 8, int(on))
                struct.pack_into("<I", words, 12, (generation + 1) & 0xFFFFFFFF)

    def mark(self, name: str) -> None:
        self.waiting.append({"name": str(name)[:200], "realtime": time.time_ns()})
        starts = []
        for log in os.listdir(self.directory):
            if log.endswith(".gmtlog"):
                with open(os.path.join(self.directory, log), "rb") as file:
                    starts.append(struct.unpack_from("<Q", file.read(START_OFFSET + 8).ljust(START_OFFSET + 8, b"\0"), START_OFFSET)[0])
        zero = min((each for each in starts if each), default=0)
        if not zero:
            return
        marks = [{"name": each["name"], "timeNs": max(0, int(each["realtime"]) - zero)} for each in self.waiting]  # type: ignore
        self.waiting = []
        file = os.path.join(self.directory, "session.json")
        with open(os.path.join(self.directory, "marks"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # other processes of the trace mark too
            with open(file) as text:
                session = json.load(text)
            session["marks"] = session.get("marks", []) + marks
            write_whole(file, json.dumps(session))

    def step(self) -> None:
        try:
            # With the GIL, and only where it is in the process already.
            library = ctypes.PyDLL(os.environ.get("CUDA_INJECTION64_PATH", LIBRARY), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            library.gpu_memtrace_step()
        except (OSError, AttributeError):
            pass  # nothing has used the GPU yet

    def save(self, file: str) -> bool:
        """Saves what is recorded so far. False: nothing has used the GPU."""
        self.check()
        if not any(name.endswith(".gmtlog") for name in os.listdir(self.directory)):
            return False
        if self.waiting:
            self.mark(str(self.waiting.pop()["name"]))
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
            # Renamed first: a child that outlives us may begin a log in it meanwhile.
            gone = self.directory + "-gone"
            os.rename(self.directory, gone)
            shutil.rmtree(gone, ignore_errors=True)
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
    return recording if recording is not None and (recording.begun() or not cuda_is_up()) else None


def start(*, holders: bool, budget: Optional[int] = None, at_end: Optional[str] = None) -> Recording:
    """Begins one in a directory of its own. `at_end`: where the trace goes should the program be killed."""
    global _current
    if cuda_is_up():
        raise NotRecorded("CUDA is in use by this process already, so its memory cannot be recorded from here on. " + HOW)
    if not os.access(RECORDER, os.X_OK):
        raise NotRecorded("%s is missing: install gpu-memtrace again." % RECORDER)
    directory, limit = make_directory(budget)
    with open("/proc/self/cmdline", "rb") as words:
        command = [word.decode(errors="replace") for word in words.read().split(b"\0")[:-1]]
    session = {"version": 1, "command": command, "cwd": os.getcwd(), "startedRealtimeMs": int(time.time() * 1000)}
    session.update(simulated="GPU_MEMTRACE_SIMULATOR" in os.environ, backend="inject", processes=[{"pid": os.getpid(), "exitCode": None}])
    write_whole(os.path.join(directory, "session.json"), json.dumps(session))
    write_whole(os.path.join(directory, "control"), CONTROL.pack(CONTROL_MAGIC, 1, 1, 0, 0, 0))
    if holders:
        write_whole(os.path.join(directory, "at-exit.json"), json.dumps({"budgetMs": 500, "sample": 200, "steps": True}))
    other = os.environ.get("CUDA_INJECTION64_PATH")
    cupti = os.environ.get("GPU_MEMTRACE_CUPTI") or find_cupti()
    os.environ.update(GPU_MEMTRACE_DIR=directory, CUDA_INJECTION64_PATH=LIBRARY, GPU_MEMTRACE_BUDGET=str(limit))
    if other and other != LIBRARY:
        os.environ["GPU_MEMTRACE_CHAIN"] = other
    if cupti:
        os.environ["GPU_MEMTRACE_CUPTI"] = cupti
    words = [RECORDER, directory, "--background", "--budget", str(limit), "--detail", str(min(GB // 2, limit // 4))]
    subprocess.run(words + (["--at-end", at_end] if at_end else []), env={}, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _current = Recording(directory, owner=True)
    atexit.register(_current.close)
    return _current


def cache_folder() -> str:
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), PRODUCT)


def make_directory(budget: Optional[int]) -> "tuple[str, int]":
    """A new folder that only we can read, where live traces are looked for, and the bytes that its files may take."""
    roots = [os.path.join(cache_folder(), "live"), os.path.join(tempfile.gettempdir(), "%s-%d" % (PRODUCT, os.getuid()))]
    if os.environ.get("XDG_RUNTIME_DIR"):
        roots.insert(0, os.path.join(os.environ["XDG_RUNTIME_DIR"], PRODUCT))
    best, reason = ("", -1), ""
    for root in roots:
        try:
            os.makedirs(root, mode=0o700, exist_ok=True)
            if os.stat(root).st_uid != os.getuid() or not os.access(root, os.W_OK | os.X_OK):
                raise PermissionError("it is another user's, or cannot be written")
            about = os.statvfs(root)
            best = max(best, (root, about.f_bavail * about.f_frsize), key=lambda each: each[1])
        except OSError as error:
            reason = "%s: %s" % (root, error)
        if best[1] >= GB:
            break
    if not best[0]:
        raise NotRecorded("No trace directory can be made: %s; set XDG_CACHE_HOME to a writable folder." % reason)
    own = budget or int(os.environ.get("GPU_MEMTRACE_BUDGET") or 0)
    in_memory = best[0].startswith("/run/") or best[0].startswith("/dev/shm")
    return tempfile.mkdtemp(prefix="trace-", dir=best[0]), own or min(2 * GB, best[1] // (4 if in_memory else 2))


def cuda_is_up() -> bool:
    """Whether this process has initialised CUDA: from then on a driver loads no tracer."""
    with open("/proc/self/maps") as maps:
        path = next((line.split(None, 5)[-1].strip() for line in maps if "/libcuda.so" in line), None)
    if path is None:
        return False
    try:
        driver = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != NOT_INITIALIZED


def find_cupti() -> Optional[str]:
    """The newest libcupti of the framework, else of a toolkit."""
    folders = [os.path.join(path, "nvidia", name, "lib") for path in sys.path for name in list_of(os.path.join(path, "nvidia"))]
    roots = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")] + ["/usr/local/cuda"]
    folders += [os.path.join(root, end) for root in roots if root for end in ("extras/CUPTI/lib64", "lib64")]
    if os.environ.get("CONDA_PREFIX"):
        folders.append(os.path.join(os.environ["CONDA_PREFIX"], "lib"))
    for folder in folders:
        found = [name for name in list_of(folder) if name.startswith("libcupti.so.") and name[12:].isdigit()]
        if found:
            return os.path.join(folder, max(found, key=lambda name: int(name[12:])))
    return None


def list_of(folder: str) -> List[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def write_whole(file: str, content: "str | bytes") -> None:
    """A reader sees the old file or the new one."""
    with open(file + ".part", "wb") as out:
        out.write(content if isinstance(content, bytes) else content.encode())
    os.chmod(file + ".part", 0o600)
    os.rename(file + ".part", file)
