"""GPU_MEMTRACE=1: records this process, and those that it starts, into the file that GPU_MEMTRACE_OUT names."""

import atexit
import os
import sys
import time

from ._recording import NotRecorded, cache_folder, start


def usual_file() -> str:
    """Beside the traces of `gpu-memtrace run`."""
    folder = os.path.join(cache_folder(), "traces")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.join(folder, "python-%s-%d.gputrace" % (time.strftime("%Y%m%d-%H%M%S", time.gmtime()), os.getpid()))


def begin() -> None:
    if os.environ.get("GPU_MEMTRACE_DIR"):
        return  # somebody records us already
    try:
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
            if recording.save(out):
                sys.stderr.write("gpu-memtrace: %s\n" % out)
        except (NotRecorded, OSError) as error:
            sys.stderr.write("gpu-memtrace: the trace could not be saved: %s\n" % error)

    atexit.register(end)


begin()
