"""record.py OUTPUT SCRIPT: runs a script of these tests, or of test/native/python, whose check() calls the probed function and
keeps what sys._getframe tells at that moment. OUTPUT gets it as JSON: each frame once, and for each call the numbers of its frames."""

import atexit
import ctypes
import itertools
import json
import os
import runpy
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:1] = [HERE, os.path.join(HERE, "..", "python")]
import probe

library = os.environ["GMT_PROBED"]
without_gil = ctypes.CDLL(library).cuMemAlloc_v2
with_gil = ctypes.PyDLL(library).cuMemAlloc_v2
for function in (without_gil, with_gil):
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
numbers = itertools.count(1)
frames, calls = {}, {}


def keep(number, frame, first_line, first_name=None):
    """`first_line` is that of the innermost frame, which has moved on."""
    stack = probe.expected_from(frame, first_line)
    calls[number] = [frames.setdefault(entry, len(frames)) for entry in stack]


def check():
    number = next(numbers)
    without_gil(None, number)
    keep(number, sys._getframe(), check.__code__.co_firstlineno + 2)
    number = next(numbers)
    with_gil(None, number)
    keep(number, sys._getframe(), check.__code__.co_firstlineno + 5)
    return number


def write(path, text=json.dumps, open=open):
    with open(path, "w") as out:
        out.write(text({"frames": list(frames), "calls": calls}))


if __name__ == "__main__":
    sys.modules["record"] = sys.modules["__main__"]
    probe.check = check
    atexit.register(write, sys.argv[1])
    input()  # the tracer is ready
    runpy.run_path(sys.argv[2], run_name="__main__")
