"""Native stacks, where they are wanted: of a program without Python, and none in place of a Python stack."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "uprobe"), os.path.join(HERE, "..", "python")]

import tracer
from equal_test import WORKLOADS, Lines
from log_reader import *  # noqa: F403

CALLERS = os.environ["GMT_CALLERS"]


class Native(tracer.Uprobed):
    def stacks(self, *command, options):
        self.record_program(*command, options=["--children", *options], PYTHONPATH=WORKLOADS)
        log = Lines(paths(self.trace)[0])  # noqa: F405
        self.assertEqual(log.lost, {})
        return [log.frames(e.stack) for e in log.of_kind(GMT_DEVICE_ALLOC)]  # noqa: F405

    def test_functions_are_named(self):
        stacks = self.stacks(CALLERS, options=["--native-stacks"])
        self.assertEqual(len(stacks), 3)
        for stack in stacks:
            names = [(os.path.basename(file), name, line) for file, name, line in stack]
            program = os.path.basename(CALLERS)
            wanted = [(program, "native_inner", 0), (program, "callers::outer(unsigned long*)", 0), (program, "main", 0)]
            self.assertEqual(names[:3], wanted)

    def test_only_where_they_are_wanted(self):
        self.assertEqual(self.stacks(CALLERS, options=[]), [None] * 3)

    def test_a_python_stack_comes_first(self):
        stacks = self.stacks(sys.executable, os.path.join(WORKLOADS, "frames.py"), options=["--native-stacks"])
        self.assertTrue(stacks and all(stacks))
        self.assertTrue(all(stack[-1][0].endswith(".py") for stack in stacks), stacks)


if __name__ == "__main__":
    tracer.main()
