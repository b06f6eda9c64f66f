"""A real PyTorch, where a Python here has one: its results are the same with the tracer in it, and its nodes are recorded.

GMT_TORCH_PYTHON may name further interpreters, with `:` between them.
"""

import glob
import json
import os
import subprocess
import sys

from log_reader import *  # noqa: F403
from traced import HERE, Traced, main

PROGRAM = os.path.join(HERE, "torch_program.py")
HAS_TORCH = "import importlib.util, sys; sys.exit(0 if importlib.util.find_spec('torch') else 1)"


def has_torch(python):
    try:
        return subprocess.run([python, "-c", HAS_TORCH], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def pythons():
    named = [path for path in os.environ.get("GMT_TORCH_PYTHON", "").split(":") if path]
    known = glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))
    found = {}
    for python in named + [sys.executable] + sorted(known):
        if has_torch(python):
            found.setdefault(os.path.abspath(python), python)
    return list(found)


class Torch(Traced):
    def check(self, python):
        plain = self.run_program(python, PROGRAM, traced=False, preload=False, simulator=self.folder)
        traced = self.run_program(python, PROGRAM, simulator=self.folder)
        one, other = json.loads(plain.stdout), json.loads(traced.stdout)
        self.assertEqual(one["results"], other["results"])
        self.assertEqual(one["numbers"], other["numbers"])
        log = only_log(self.trace)
        os.unlink(log.path)
        self.assertEqual(log.lost, {})
        recorded = {}
        for node in log.nodes:
            recorded.setdefault(node.writer, set()).add(node.sequence)
        self.assertEqual(len(recorded), 3)  # numbers are dense in each thread that made nodes
        accumulate = GMT_SEQUENCE_ACCUMULATE
        for seen in other["numbers"]:
            wanted = {number & accumulate for number in seen} - {accumulate}
            self.assertTrue(wanted)
            self.assertTrue(any(wanted <= numbers for numbers in recorded.values()), wanted)
        for node in log.nodes:
            self.assertIn(node.stack, log.stacks)

    def test_results_and_numbers(self):
        found = pythons()
        if not found:
            self.skipTest("no Python here has PyTorch; GMT_TORCH_PYTHON may name one")
        for python in found:
            with self.subTest(python):
                self.check(python)


if __name__ == "__main__":
    main()
