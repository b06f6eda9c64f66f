"""GPU_MEMTRACE=1: records this process, and those that it starts, into the file, or the folder of a job, that GPU_MEMTRACE_OUT names."""

import atexit
import os
import re
import socket
import sys
import time
from typing import Optional, Tuple

from ._files import make_folder, remove, write_whole
from ._recording import NotRecorded, cache_folder, command_line, start, why_none

# Who says it first; extension/protocol/rank.ts has the same.
RANK = ("GPU_MEMTRACE_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX")
RUN = ("GPU_MEMTRACE_RUN", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "RAY_JOB_ID", "JOB_NAME")
LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "torch.distributed.run")
COPY_SECONDS = 180
BRIEF = (48 << 20, 12 << 20)  # what the trace of a rank may take that is not recorded in full: in all, and of the newest events


def variable(names: Tuple[str, ...]) -> str:
    alone = os.environ.get("OMPI_COMM_WORLD_SIZE", "1") == "1"  # a program that began MPI by itself names a job of one
    values = (os.environ.get(name, "") for name in names if not (alone and name == "PMIX_NAMESPACE"))
    return next((value for value in values if value not in ("", "none", "default")), "")


def trace_in(folder: str) -> str:
    """The file of this process's trace in the folder of a job, which is made: %j is the job, %r the rank, %h the host, %p the process."""
    values = {"j": variable(RUN), "r": variable(RANK) or "0", "h": socket.gethostname(), "p": str(os.getpid())}
    safe = {key: re.sub(r"[^\w.-]+", "_", value, flags=re.ASCII).lstrip(".") or "unknown" for key, value in values.items()}
    traces = os.path.join(os.path.abspath(re.sub("%([jrhp])", lambda match: safe[match[1]], folder)), "traces")
    make_folder(traces)
    began = time.strftime("%Y%m%d-%H%M%S", time.gmtime())  # a container that starts again has the same host and numbers
    return os.path.join(traces, "%s-%s-%s.gputrace" % (safe["h"], safe["p"], began))


def limits() -> Optional[Tuple[int, int]]:
    """GPU_MEMTRACE_RANKS=0,7,64-71: these are recorded in full, as is a launcher, which may have a number from Slurm."""
    rank, ranks = variable(RANK), os.environ.get("GPU_MEMTRACE_RANKS", "")
    command = command_line()
    if not ranks or not re.fullmatch("[0-9]{1,7}", rank) or any(os.path.basename(word) in LAUNCHERS for word in command):
        return None
    ranges = [re.fullmatch(r"\s*(\d{1,7})(?:-(\d{1,7}))?\s*", part, re.ASCII) for part in ranks.split(",")]
    if None in ranges:
        raise NotRecorded("GPU_MEMTRACE_RANKS=%s is not a list of ranks, such as 0,7,64-71." % ranks)
    full = any(int(each[1]) <= int(rank) <= int(each[2] or each[1]) for each in ranges if each)
    return None if full else BRIEF


def usual_file() -> str:
    """Beside the traces of `gpu-memtrace run`."""
    folder = make_folder(os.path.join(cache_folder(), "traces"))
    return os.path.join(folder, "python-%s-%d.gputrace" % (time.strftime("%Y%m%d-%H%M%S", time.gmtime()), os.getpid()))


def reason_file() -> str:
    """Where the trace would be looked for."""
    return usual_file().replace(".gputrace", ".txt")


def hands_over() -> bool:
    """`python -m gpu_memtrace -o FILE ...` names the file of the program that it becomes. A script may have such arguments, too."""
    options = r"(?:-[XW]\0[^\0]*\0|-(?![A-Za-z]*[mc])[^\0]+\0)*"
    return re.match(options + r"-[A-Za-z]*m\0?gpu_memtrace(?:\0|$)", "\0".join(command_line()[1:])) is not None


def begin() -> None:
    setting = os.environ["GPU_MEMTRACE"]
    if hands_over():
        return
    if os.environ.get("GPU_MEMTRACE_DIR") or setting.lower() in ("no", "false", "off"):
        return  # or this process is recorded already
    try:
        if setting.lower() not in ("1", "yes", "true", "on"):
            raise NotRecorded("GPU_MEMTRACE=%s is neither on nor off. Use GPU_MEMTRACE=1." % setting)
        wish = os.environ.get("GPU_MEMTRACE_OUT") or usual_file()
        of_job = wish.endswith("/")
        out = trace_in(wish) if of_job else os.path.abspath(wish)
        recording = start(holders=True, limits=limits(), copies=(out, COPY_SECONDS) if of_job else None)
        recording.at_end(out)
    except (NotRecorded, OSError) as error:
        sys.stderr.write("gpu-memtrace: this program is not recorded: %s\n" % error)
        return
    except Exception as error:  # of ours; the program does not hear of it
        write_whole(reason_file(), "This program is not recorded: %s: %s\n" % (type(error).__name__, error))
        return

    def end() -> None:
        if os.getpid() != recording.pid:
            return
        try:
            remove(os.path.join(recording.directory, "copies"))  # none comes after this
            saved = recording.save(out)
            sys.stderr.write("gpu-memtrace: %s\n" % (out if saved else "there is no trace: " + why_none()))
        except (NotRecorded, OSError) as error:
            sys.stderr.write("gpu-memtrace: the trace could not be saved: %s\n" % error)

    atexit.register(end)


begin()
