"""Every driver call of the table as the tracer sees it from outside: what the in-process tracer's tests demand, of this one."""

import os
import re

from tracer import *  # noqa: F403

import driver_test
import tensor_test


class Calls(Uprobed, driver_test.Driver):
    source = GMT_DRIVER_UPROBE
    stacks = LONG

    def run_program(self, *command, status=0, **environment):
        return self.record_program(*command, status=status, **environment)

    def check_ends(self, events, told):
        """Calls are seen, not the ends of contexts: a context has no device then, a release is a reset."""
        kinds = [GMT_CONTEXT_DESTROY, GMT_DEVICE_RESET, GMT_DEVICE_RESET]
        self.assertEqual([event.kind for event in events], kinds)
        self.assertEqual(events[0].address, told[0][1])
        self.assertEqual([event.device for event in events[1:]], [0, 1])

    def test_devices_are_described(self):
        """Nobody asks the driver for a device's name, so none is known."""
        _, log = self.driver_program()
        self.assertEqual(log.devices, {})


class Tensors(Uprobed, tensor_test.Tensor):
    def run_program(self, *command, status=0, traced=True, preload=True, **environment):
        return self.record_program(*command, status=status, **environment)

    test_every_spelling_without_preload = None
    test_arguments_come_through_without_a_trace = None


class Autograd(Uprobed, tensor_test.Autograd):
    ASKED = range(1)  # what runs is seen from outside
    test_shared_nodes = in_long(tensor_test.Autograd.test_shared_nodes)  # they are those of a PyTorch that is loaded late, too

    def run_program(self, *command, status=0, traced=True, preload=True, **environment):
        return self.record_program(*command, status=status, **environment)

    def test_switched_off(self):
        folder = os.path.join(traced.BUILT, "torch_shared")
        command = [sys.executable, os.path.join(INJECT, "programs", "autograd_program.py"), tensor_test.spelling(0), folder]
        self.record_program(*command, simulator=tensor_test.spelling(0), options=("--no-autograd",), stacks=LONG)
        log = only_log(self.trace)
        self.assertEqual(log.nodes, [])
        self.assertEqual({event.autograd for event in log.of_kind(GMT_TENSOR_ALLOC)}, {None})

    def test_code_that_is_not_known(self):
        """Its log says so, once."""
        library = os.path.join(self.folder, "libtorch_cpu.so")
        with open(os.path.join(traced.BUILT, "torch_shared", "libtorch_cpu.so"), "rb") as original:
            code = original.read()
        with open(library, "wb") as changed:
            # Thread-local data is written where it was read: code of another shape, which nobody runs here.
            read = re.compile(rb"(\x48\x8d\x3d....\xe8....\x48)\x8b", re.DOTALL)
            changed.write(read.sub(lambda found: found[1] + b"\x89", code))
        load = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); ctypes.CDLL(sys.argv[2]).tell(0x1000, 512, 0, 0, 1)"
        folder = tensor_test.spelling(0)
        self.record_program(sys.executable, "-c", load, library, os.path.join(folder, "libc10_cuda.so"), simulator=folder)
        log = only_log(self.trace)
        self.assertEqual(len(log.of_kind(GMT_TENSOR_ALLOC)), 1)
        self.assertEqual(len(log.notes), 1)
        self.assertIn("backward", log.notes[0][1])

    test_numbers_go_on_without_a_trace = None
    test_a_lean_trace_tells_of_a_backward_pass_once_and_of_no_node = None  # only the library in the program leaves nodes out


del driver_test.Driver, driver_test.WithoutCupti, driver_test.Paths, tensor_test.Tensor, tensor_test.Autograd

if __name__ == "__main__":
    main()
