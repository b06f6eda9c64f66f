"""Both tracers give one model: in every Python that is here, a job that allocates through every kind of Python frame has the same
allocations with the same stacks, by file, line and function, whether it is traced from inside or from outside."""

import collections
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "uprobe"), os.path.join(HERE, "..", "python")]

import probe
import tracer
import versions
from log_reader import *  # noqa: F403

WORKLOADS = os.path.join(HERE, "..", "..", "workloads")


class Lines(Log):  # noqa: F405
    """A log with the lines of its stacks."""

    def __init__(self, path):
        self.described = {}
        super().__init__(path)

    def read_side_record(self, kind, payload):
        super().read_side_record(kind, payload)
        if kind == GMT_CODE:  # noqa: F405
            code = probe.Code(payload)
            self.described[code.id] = code

    def frames(self, stack):
        if stack == 0:
            return None
        frames = [(self.described[code], offset) for code, offset in self.stacks[stack]]
        line = lambda code, offset: code.first_line if code.flags & GMT_CODE_CUT else code.line(offset)  # noqa: E731, F405
        return tuple((code.file, code.name, line(code, offset) or code.first_line) for code, offset in frames)

    def allocations(self):
        kinds = (GMT_TENSOR_ALLOC, GMT_DEVICE_ALLOC)  # noqa: F405
        return collections.Counter((e.kind, e.bytes, self.frames(e.stack)) for e in self.of_kind(*kinds))


class Equal(tracer.Uprobed):
    def recorded(self, run, python, script):
        for path in paths(self.trace):  # noqa: F405
            os.remove(path)
        run(python, os.path.join(WORKLOADS, script), PYTHONPATH=WORKLOADS)
        logs = [Lines(path) for path in paths(self.trace)]  # noqa: F405
        self.assertEqual([log.lost for log in logs], [{}])
        return logs[0]

    def check(self, python):
        inside = self.recorded(lambda *c, **e: tracer.traced.Traced.run_program(self, *c, **e), python, "frames.py")
        outside = self.recorded(self.record_program, python, "frames.py")
        self.assertEqual(outside.python_version, inside.python_version)
        self.assertEqual(inside.allocations() - outside.allocations(), collections.Counter())
        self.assertEqual(outside.allocations() - inside.allocations(), collections.Counter())
        stacks = {frames for _, _, frames in outside.allocations() if frames}
        print("  %d allocations, %d stacks, %d deepest" % (sum(outside.allocations().values()), len(stacks), max(map(len, stacks))))
        self.assertGreater(len(stacks), 15)
        self.assertEqual(max(map(len, stacks)), probe.MAX_FRAMES)


    def check_children(self, python):
        """Forked, spawned and executed ones: the walk finds each one's interpreter before its first allocation."""
        self.record_program(python, os.path.join(WORKLOADS, "fork_spawn_exec.py"), PYTHONPATH=WORKLOADS)
        logs = [Lines(path) for path in paths(self.trace)]  # noqa: F405
        self.assertGreater(len(logs), 5)
        for log in logs:
            self.assertEqual(log.lost, {})
            self.assertTrue(log.allocations() and all(frames for _, _, frames in log.allocations()), log.path)


def add(version, python, with_children):
    name = version.replace(".", "_")
    setattr(Equal, "test_python_%s" % name, lambda self: self.check(python))
    if with_children:
        setattr(Equal, "test_children_%s" % name, lambda self: self.check_children(python))


found = [(version, path) for (version, _prefix), path in versions.interpreters().items() if versions.minor(version) in versions.SUPPORTED]
for version, path in found:
    add(version, path, versions.LONG or (version, path) == found[-1])

if __name__ == "__main__":
    tracer.main()
