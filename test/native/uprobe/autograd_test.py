"""A real PyTorch, where a Python here has one: nodes and backward allocations as both tracers tell them."""

from tracer import *  # noqa: F403

import torch_results_test
from same_test import Codes
from torch_pythons import every_torch

BACKWARD = os.environ.get("GMT_BACKWARD", "")
PROGRAM = os.path.join(HERE, "autograd_threads_program.py")


class Numbers(Uprobed, torch_results_test.Torch):
    """What the in-process tracer's test demands, of this one."""

    test_results_and_numbers = in_long(torch_results_test.Torch.test_results_and_numbers)

    def run_program(self, *command, traced=True, preload=True, **environment):
        if not traced:
            return super().run_program(*command, traced=traced, preload=preload, **environment)
        return self.record_program(*command, **environment)


class Lines(Uprobed):
    def lines(self, log):
        """By address of an allocation: the node's number, and the functions of the stack that made it."""
        makers, nodes, found = {}, {}, {}
        for node in log.nodes:
            if node.thread:
                makers[node.thread] = node.writer
            nodes[node.writer, node.sequence] = node.stack
        for event in log.of_kind(GMT_TENSOR_ALLOC):
            if event.stack == 0:
                self.assertEqual(event.autograd.role, GMT_AUTOGRAD_BACKWARD, hex(event.address))
                stack = nodes[makers[event.autograd.thread], event.autograd.sequence]
                found[event.address] = (event.autograd.sequence, log.frames(stack))
        return found

    def check(self, python):
        found = []
        for run in (self.run_program, self.record_program):
            done = run(python, PROGRAM, BACKWARD)
            log = Codes(only_log(self.trace).path)
            os.unlink(log.path)
            self.assertEqual(log.lost, {})
            found.append(self.lines(log))
            told = {address: (number, name) for address, number, name in json.loads(done.stdout)}
            seen = {address: (number, frames[0][1]) for address, (number, frames) in found[-1].items()}
            self.assertEqual(seen, told)
        self.assertEqual(*found)

    @every_torch
    def test_gradients_have_their_forward_lines(self, python):
        self.check(python)


del torch_results_test.Torch

if __name__ == "__main__":
    main()
