"""The tensor layer and autograd's numbers, with stand-ins for PyTorch's libraries in every spelling and layout."""

import json
import os

from log_reader import *  # noqa: F403
from traced import BUILT, LIBRARY, Traced, main

MIB = 1 << 20


def spelling(number):
    return os.path.join(BUILT, "c10_%d" % number)


class Tensor(Traced):
    def wanted(self):
        return [
            (GMT_RESERVED, 0, 2 * MIB, 0), (GMT_TENSOR_ALLOC, 0x1000, 512, 0),
            (GMT_RESERVED, 0, 6 * MIB, 1), (GMT_TENSOR_ALLOC, 0x2000, 1024, 1),
            (GMT_TENSOR_FREE, 0x1000, 512, 0),
            (GMT_RESERVED, 0, 4 * MIB, 0), (GMT_TENSOR_ALLOC, 0x5000, 100, 0),
            (GMT_RESERVED, 0, 1 << 47, 7), (GMT_TENSOR_ALLOC, (1 << 64) - 4096, 1 << 47, 7),
            (GMT_TENSOR_OOM, 0, 1 << 40, 1),
        ]  # fmt: skip

    def check(self, number, *arguments, **environment):
        self.run_python("tensor_program.py", spelling(number), *arguments, simulator=spelling(number), **environment)
        log = only_log(self.trace)
        os.unlink(log.path)
        got = [(event.kind, event.address, event.bytes, event.device) for event in log.events if event.kind < 16]
        self.assertEqual(got, self.wanted())
        tensors = log.of_kind(GMT_TENSOR_ALLOC, GMT_TENSOR_FREE, GMT_TENSOR_OOM)
        for event in tensors:
            self.assertIn(event.stack, log.stacks)
        self.assertEqual(log.lost, {})

    def test_every_spelling(self):
        for number in range(2):
            with self.subTest(number):
                self.check(number)

    def test_every_spelling_without_preload(self):
        for number in range(2):
            with self.subTest(number):
                self.check(number, LIBRARY, preload=False)

    def test_arguments_come_through_without_a_trace(self):
        for number in range(2):
            self.run_python("tensor_program.py", spelling(number), simulator=spelling(number), traced=False)
        self.assertEqual(os.listdir(self.trace), [])


class Autograd(Traced):
    # How often PyTorch is asked which node runs: until it is known where that can be read, and now and then to be sure.
    ASKED = range(40000 // 256, 2 * 40000 // 256)

    def check(self, layout):
        folder = os.path.join(BUILT, "torch_" + layout)
        done = self.run_python("autograd_program.py", spelling(0), folder, "asked", simulator=spelling(0))
        told, log = json.loads(done.stdout), only_log(self.trace)
        self.assertEqual(told, {"unseen": 0, "nodes": [1, 2, 3], "references": [3, 0, 3]})
        self.assertEqual([node.sequence for node in log.nodes], [1, 2, 3])
        for node in log.nodes:
            self.assertEqual((node.thread, len(log.stacks[node.stack])), (77, 3))
        by_address = {event.address: event for event in log.of_kind(GMT_TENSOR_ALLOC)}
        self.assertEqual(len(by_address), 10 + 40000)
        for place in range(40000):
            autograd = by_address[0x100000 + place].autograd
            if place % 2:
                self.assertEqual(autograd.role, GMT_AUTOGRAD_NONE, place)
            else:
                self.assertEqual(autograd, (7, 33, GMT_AUTOGRAD_BACKWARD), place)
        for address in range(0x3000, 0x3003):
            self.assertEqual(by_address[address].autograd, (6, 33, GMT_AUTOGRAD_BACKWARD))
            self.assertEqual(by_address[address].stack, 0)
        self.assertEqual(by_address[0x5000].autograd, (GMT_SEQUENCE_ACCUMULATE, 33, GMT_AUTOGRAD_BACKWARD))
        nested = [by_address[0x6000 + place].autograd.sequence for place in range(3)]
        self.assertEqual(nested, [9, 10, 9])
        without = by_address[0x4000].autograd
        self.assertTrue(without is None or without.role == GMT_AUTOGRAD_NONE, without)
        after_nodes = by_address[0x2000].autograd
        self.assertTrue(after_nodes is None or after_nodes.role == GMT_AUTOGRAD_NONE, after_nodes)
        self.assertEqual(log.lost, {})
        self.assertIn(int(done.stderr.splitlines()[-1]), self.ASKED)

    def test_shared_nodes(self):
        self.check("shared")

    def test_intrusive_nodes(self):
        self.check("intrusive")

    def test_a_lean_trace_tells_of_a_backward_pass_once_and_of_no_node(self):
        folder = os.path.join(BUILT, "torch_shared")
        done = self.run_python(
            "autograd_program.py", spelling(0), folder, simulator=spelling(0), GPU_MEMTRACE_LEAN="1"
        )
        log = only_log(self.trace)
        self.assertEqual(json.loads(done.stdout), {"unseen": 0, "nodes": [1, 2, 3], "references": [3, 0, 3]})
        self.assertEqual(log.nodes, [])
        self.assertIn(GMT_NOTE_LEAN, [code for code, _ in log.notes])
        by_address = {event.address: event for event in log.of_kind(GMT_TENSOR_ALLOC)}
        self.assertEqual(len(by_address), 10 + 40000)
        backward = (GMT_SEQUENCE_ACCUMULATE, 0, GMT_AUTOGRAD_BACKWARD)
        for address in list(range(0x3000, 0x3003)) + [0x5000, 0x6000, 0x6001, 0x6002]:
            self.assertEqual(by_address[address].autograd, backward)

    def test_torch_that_is_loaded_after_the_first_use_of_the_gpu(self):
        arguments = ["autograd_program.py", spelling(0), os.path.join(BUILT, "torch_shared"), "late"]
        self.run_python(*arguments, simulator=spelling(0))
        log = only_log(self.trace)
        self.assertEqual([node.sequence for node in log.nodes], [0, 1, 2, 3])
        by_address = {event.address: event for event in log.of_kind(GMT_TENSOR_ALLOC)}
        self.assertEqual(by_address[0x3000].autograd, (6, 33, GMT_AUTOGRAD_BACKWARD))

    def test_numbers_go_on_without_a_trace(self):
        arguments = ["autograd_program.py", spelling(0), os.path.join(BUILT, "torch_shared")]
        traced = self.run_python(*arguments, simulator=spelling(0)).stdout
        self.assertEqual(self.run_python(*arguments, simulator=spelling(0), traced=False).stdout, traced)
        self.assertEqual(self.run_python(*arguments, simulator=spelling(0), preload=False, traced=False).stdout, traced)


if __name__ == "__main__":
    main()
