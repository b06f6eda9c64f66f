"""Runs programs with the library in them, and gives the tests their folders."""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
LIBRARY = os.environ["GMT_LIBRARY"]  # libgpumemtrace.so
BUILT = os.environ["GMT_BUILT"]  # folder of the test programs
SIMULATOR = os.environ["GMT_SIMULATOR"]  # folder of the simulated libraries
PROGRAM = os.path.join(BUILT, "inject_program")
EMULATOR = os.environ.get("GMT_EMULATOR", "").split()  # runs what another processor's compiler made
HANG_S = 1800  # a program that has not ended by then hangs, however busy the machine is


def calls():
    """Rows of the table of driver calls: name -> (place, kind's name)."""
    with open(os.path.join(ROOT, "native", "cuda", "calls.h")) as table:
        rows = re.findall(r"^\s*X\((cu\w+),\s*(\d+),\s*(GMT_\w+),", table.read(), re.M)
    return {name: (place, kind) for place, (name, _cbid, kind) in enumerate(rows)}


class Traced(unittest.TestCase):
    """Has an empty trace directory for each test."""

    maxDiff = 4000

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gmt-inject-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.trace = os.path.join(self.folder, "trace")
        os.mkdir(self.trace, 0o700)

    def environment(self, traced=True, preload=True, simulator=SIMULATOR, **more):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("GPU_MEMTRACE", "CUDA_INJ"))}
        kept.pop("LD_PRELOAD", None)
        kept["LD_LIBRARY_PATH"] = simulator
        kept["PYTHONDONTWRITEBYTECODE"] = "1"
        if preload:
            kept["LD_PRELOAD"] = LIBRARY
        if traced:
            kept["GPU_MEMTRACE_DIR"] = self.trace
            kept["CUDA_INJECTION64_PATH"] = LIBRARY
        kept.update(more)
        return kept

    def run_program(self, *command, status=0, preexec_fn=None, **environment):
        """Runs to the end; gives the completed process after a look at its exit status."""
        done = subprocess.run(
            EMULATOR + [str(part) for part in command], env=self.environment(**environment), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True, timeout=HANG_S, cwd=self.folder, preexec_fn=preexec_fn,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, "%s\n%s\n%s" % (command, done.stdout[-2000:], done.stderr[-2000:]))
        return done

    def run_python(self, script, *arguments, **environment):
        if EMULATOR:
            self.skipTest("this Python is not of the emulated processor")
        return self.run_program(sys.executable, os.path.join(PROGRAMS, script), *arguments, **environment)

    def write_control(self, recording, generation):
        with open(os.path.join(self.trace, "control"), "r+b" if generation > 1 else "wb") as control:
            control.write(struct.pack("<IIII48x", 0x4C54434D, 1, recording, generation))


class Phases:
    """`inject_program phases N`: N allocations with each line that it is sent."""

    def __init__(self, test, events, command=(PROGRAM, "phases"), **environment):
        self.process = subprocess.Popen(
            EMULATOR + list(command) + [str(events)], env=test.environment(**environment), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, cwd=test.folder,
        )  # fmt: skip
        test.addCleanup(self.stop)

    def next(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer == "done\n", (answer, self.process.stderr.read() if not answer else "")

    def end(self):
        out, error = self.process.communicate(timeout=HANG_S)
        return self.process.returncode, out, error

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def main():
    unittest.main(verbosity=2)
