"""The agent with JAX, CuPy and Numba, where a Python here has them (GMT_ARRAYS_PYTHON may name some, with `:` between them)."""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "inject"))

from agent_log import *  # noqa: E402, F403
from traced import Traced, main  # noqa: E402

PROGRAM = os.path.join(HERE, "programs", "arrays_program.py")
SUFFIXES = {
    "list": ("__main__.kept[...]", "container"),
    "attribute": ("run().keeper.history[...]", "container"),
    "closure": ("__main__.later[...] > <run.<locals>.<lambda>>.out", "object"),
}


def marked(mark):
    with open(PROGRAM) as text:
        return next(place for place, line in enumerate(text, 1) if line.rstrip().endswith("# " + mark))


def pythons(library):
    known = [path for path in os.environ.get("GMT_ARRAYS_PYTHON", "").split(":") if path] + [sys.executable]
    asks = "import importlib.util, sys; sys.exit(importlib.util.find_spec(%r) is None)" % library
    return [python for python in known if subprocess.run([python, "-c", asks]).returncode == 0]


class Arrays(Traced):
    def both(self, library, what=None):
        """What the program printed without the tracer and with it, and its log."""
        found = pythons(library)
        if not found:
            self.skipTest("no Python here has %s; GMT_ARRAYS_PYTHON may name one" % library)
        more = {"simulator": self.folder, "GPU_MEMTRACE_AGENT_DEVICES": "all", "JAX_PLATFORMS": "cpu"}
        more["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
        arguments = (found[0], PROGRAM, what or library)
        plain = self.run_program(*arguments, traced=False, preload=False, **more)
        traced = self.run_program(*arguments, **more)
        (log,) = agent_logs(self.trace)
        self.assertEqual([text for code, text in log.notes if code == GMT_NOTE_AGENT], [])
        self.assertEqual(log.lost, {})
        return json.loads(plain.stdout), json.loads(traced.stdout), log

    def check_holders(self, log, addresses):
        for name, (path, kind) in SUFFIXES.items():
            found = log.holder(1, addresses[name])
            self.assertEqual((found["path"], found["kind"], found["line"]), (path, kind, marked("HOLD " + name)))

    def functions(self, log, event):
        """The first lines of the functions on an event's stack."""
        return [log.codes[code] for code, _offset in log.stacks.get(event.stack, ())]

    def check_events(self, log, library):
        """Of the 60 arrays that were kept each has an event; half of them were let go before the end, and have another one."""
        come = [each for each in log.of_kind(GMT_TENSOR_ALLOC) if marked("MAKES " + library) in self.functions(log, each)]
        gone = {each.address for each in log.of_kind(GMT_TENSOR_FREE)}
        self.assertGreaterEqual(len(come), 60)
        self.assertEqual(len({each.address for each in come} - gone), 30)
        return come

    def test_jax(self):
        plain, traced, log = self.both("jax")
        self.assertEqual(plain["bits"], traced["bits"])
        self.check_holders(log, traced["addresses"])
        self.check_events(log, "jax")
        self.assertEqual(len([text for code, text in log.notes if code == GMT_NOTE_LOOKS]), 1)
        wide = [each for each in log.of_kind(GMT_TENSOR_ALLOC) if each.bytes == 4096 and each.device > 0]
        self.assertEqual(sorted({each.device for each in wide}), [1, 2, 3])
        self.assertEqual(log.holder(1, traced["addresses"]["wide"])["path"], "run().wide")

    def test_jax_beside_other_threads(self):
        _plain, traced, log = self.both("jax", "threads")
        self.check_holders(log, traced["addresses"])
        self.check_events(log, "jax")

    def test_jax_that_is_not_used_stays_so(self):
        _plain, traced, log = self.both("jax", "unused")
        self.assertEqual(traced["bits"], [])

    def test_cupy(self):
        plain, traced, log = self.both("cupy")
        self.assertEqual(plain["bits"], traced["bits"])
        self.check_holders(log, traced["addresses"])
        come = self.check_events(log, "cupy")
        self.assertEqual(len(come), 63, "those of the other thread too")
        self.assertEqual(len({each.thread for each in come}), 2)

    def test_numba(self):
        with open(os.path.join(self.trace, "at-exit.json"), "w") as file:
            json.dump({"budgetMs": 5000}, file)
        plain, traced, log = self.both("numba")
        self.assertEqual(plain["bits"], traced["bits"])
        self.check_holders(log, traced["addresses"])
        self.assertIn(("__main__.kept[...]", 10), [(each["path"], each["count"]) for each in log.answer(0)["groups"]])


if __name__ == "__main__":
    main()
