"""Knows nothing of the tracer. `child`: starts another one; `fork`: a child of its own ends by itself; `kill`: ends by SIGKILL; `idle`: uses no GPU."""

import os
import signal
import subprocess
import sys

words = sys.argv[1:]
if "idle" not in words:
    import gpu

    kept = gpu.empty(3 << 20)
if "child" in words:
    subprocess.run([sys.executable, __file__], check=True)
if "fork" in words:
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
if "kill" in words:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    os.wait()
    print("a child that is not ours")
except ChildProcessError:
    print("no child")
