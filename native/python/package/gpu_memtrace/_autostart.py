"""GPU_MEMTRACE=1: records this process, and those that it starts, into the file that GPU_MEMTRACE_OUT names."""

import atexit
import os
import sys
import time

from ._recording import NotRecorded, cache_folder, start, why_none


def usual_file() -> str:
    """Beside the traces of `gpu-memtrace run`."""
    folder = os.path.join(cache_folder(), "traces")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.join(folder, "python-%s-%d.gputrace" % (time.strftime("%Y%m%d-%H%M%S", time.gmtime()), os.getpid()))


def begin() -> None:
    said = os.environ["GPU_MEMTRACE"]
    if os.environ.get("GPU_MEMTRACE_DIR") or said.lower() in ("no", "false", "off"):
        return  # or somebody records us already
    try:
        if said.lower() not in ("1", "yes", "true", "on"):
            raise NotRecorded("GPU_MEMTRACE=%s says neither yes nor no; write GPU_MEMTRACE=1." % said)
        out = os.path.abspath(os.environ.get("GPU_MEMTRACE_OUT") or usual_file())
        recording = start(holders=True)
        recording.at_end(out)
    except (NotRecorded, OSError) as error:
        sys.stderr.write("gpu-memtrace: this program is not recorded: %s\n" % error)
        return

    def end() -> None:
        if os.getpid() != recording.pid:
            return
        try:
            saved = recording.save(out)
            sys.stderr.write("gpu-memtrace: %s\n" % (out if saved else "there is no trace: " + why_none()))
        except (NotRecorded, OSError) as error:
            sys.stderr.write("gpu-memtrace: the trace could not be saved: %s\n" % error)

    atexit.register(end)


begin()
