"""`python -m gpu_memtrace train.py` is GPU_MEMTRACE=1 for that program; alone it says what it is."""

import os
import sys
from importlib.metadata import version

from ._recording import HERE

USE = """gpu-memtrace %s in %s

Records a program (-m MODULE and -c CODE, too): python -m gpu_memtrace -o x.gputrace train.py
The same: GPU_MEMTRACE=1 GPU_MEMTRACE_OUT=x.gputrace python train.py
A part of it: with gpu_memtrace.Tracker("x.gputrace"): ...
Tests: pytest --gpu-memtrace"""

words = sys.argv[1:]
if not words or words[0] in ("-h", "--help"):
    sys.exit(print(USE % (version("gpu-memtrace"), HERE)))
os.environ["GPU_MEMTRACE"] = "1"
if words[0] == "-o":
    os.environ["GPU_MEMTRACE_OUT"], words = "".join(words[1:2]), words[2:]
if words:
    os.execv(sys.executable, [sys.executable, *words])
sys.stderr.write("gpu-memtrace: give a script to record: python -m gpu_memtrace -o x.gputrace train.py\n")
sys.exit(2)
