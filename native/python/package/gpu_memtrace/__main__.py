"""`python -m gpu_memtrace train.py` is GPU_MEMTRACE=1 for that program; alone it says what it is."""

import os
import sys

from ._recording import HERE

USE = """
Record a program, then look at its trace in VS Code or with "gpu-memtrace report":
  python -m gpu_memtrace -o x.gputrace train.py     (-m MODULE and -c CODE, too)
  GPU_MEMTRACE=1 GPU_MEMTRACE_OUT=x.gputrace python train.py
A part of one: with gpu_memtrace.Tracker("x.gputrace"): ...
Tests: pytest --gpu-memtrace"""


def main(words: "list[str]") -> int:
    if not words or words[0] in ("-h", "--help", "--version"):
        from importlib.metadata import version

        print("gpu-memtrace %s in %s\n%s" % (version("gpu-memtrace"), HERE, USE))
        return 0
    os.environ["GPU_MEMTRACE"] = "1"
    if words[0] == "-o":
        os.environ["GPU_MEMTRACE_OUT"], words = "".join(words[1:2]), words[2:]
    if not words:
        sys.stderr.write("gpu-memtrace: say what to record: python -m gpu_memtrace -o x.gputrace train.py\n")
        return 2
    os.execv(sys.executable, [sys.executable, *words])


sys.exit(main(sys.argv[1:]))
