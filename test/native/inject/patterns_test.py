"""Each allocation's stack is the one that the program had: random calls (test/workloads/call_patterns.py), on the oldest and the newest
Python here, or on each (`npm run test:long`).
GMT_ALLOCATIONS: how many on each; GMT_SEED."""

import itertools
import json
import os
import subprocess

from interpreters import interpreters
from line_tables import line_of
from log_reader import *  # noqa: F403
from long_run import LONG
from traced import BUILT, PROGRAMS, Traced, main

ALLOCATIONS = int(os.environ.get("GMT_ALLOCATIONS", "1200"))
SEED = int(os.environ.get("GMT_SEED", "1"))
MOST_FRAMES = GMT_MAX_FRAMES
OLDEST, NEWEST = (3, 9), (3, 14)


def version_of(python):
    """() where it does not run."""
    code = "import sys; print(*sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return tuple(map(int, done.stdout.split()))


def pythons():
    unique = {os.path.realpath(python): python for python in reversed(interpreters())}
    versions = {python: version_of(python) for python in unique.values()}
    here = sorted((python for python in versions if OLDEST <= versions[python] <= NEWEST), key=versions.get)
    return here if LONG else here[:1] + here[1:][-1:]


class Patterns(Traced):
    def check(self, python, layout):
        folders = [os.path.join(BUILT, name) for name in ("c10_0", "torch_" + layout)]
        library = os.path.join(folders[1], "libtorch_python.so")
        self.run_program(python, os.path.join(PROGRAMS, "patterns_program.py"), *folders, library, ALLOCATIONS, SEED)
        log = only_log(self.trace)
        os.unlink(log.path)
        self.assertEqual(log.lost, {})
        with open(os.path.join(self.folder, "truth.json")) as file:
            truth = json.load(file)
        events = {event.address: event for event in log.of_kind(GMT_TENSOR_ALLOC)}
        self.assertEqual(len(events), len(truth))
        wrong = [(number, frames) for number, frames in truth if not self.agrees(log, events[number << 9].stack, frames)]
        print("%s, %s: %d allocations, %d stacks, %d wrong" % (python, layout, len(truth), len(log.stacks), len(wrong)))
        for number, frames in wrong[:1]:
            own = [self.place(log, *frame) for frame in log.stacks.get(events[number << 9].stack, [])]
            self.fail("\n".join("%s   %s" % pair for pair in itertools.zip_longest(own[1:], map(tuple, frames))))

    def agrees(self, log, stack, frames):
        """Innermost are the frames of `operate`, which was given those outside of it."""
        own = [self.place(log, *frame) for frame in log.stacks.get(stack, [])]
        inner = next((i + 1 for i, frame in enumerate(own) if frame[2] == "operate"), 0)
        names = [frame[2] for frame in own[:inner]]
        if names not in (["call", "operate"], ["call", "<lambda>", "helper", "operate"]):
            return False
        return own[inner:] == [tuple(frame) for frame in frames[: MOST_FRAMES - inner]]

    def place(self, log, code, offset):
        function = log.functions[code]
        line = line_of(function.version, function.line_table, function.first_line, offset)
        return (function.file, function.first_line, function.name.rsplit(".", 1)[-1], line, offset)

    def test_every_python(self):
        for python in pythons():
            for layout in ("shared",) if ALLOCATIONS < 10_000 else ("shared", "intrusive"):
                with self.subTest(python + " " + layout):
                    self.check(python, layout)


if __name__ == "__main__":
    main()
