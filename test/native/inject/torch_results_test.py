"""A real PyTorch, where a Python here has one: its results are the same with the tracer in it, and its nodes are recorded."""

import json
import os

from log_reader import *  # noqa: F403
from torch_pythons import every_torch
from traced import PROGRAMS, Traced, main

PROGRAM = os.path.join(PROGRAMS, "torch_results_program.py")


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

    @every_torch
    def test_results_and_numbers(self, python):
        self.check(python)


if __name__ == "__main__":
    main()
