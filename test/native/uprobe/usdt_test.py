"""PyTorch's USDT probes, where its allocator has no reports to probe."""

from tracer import *  # noqa: F403

PROGRAM = """
import ctypes, sys
U64 = ctypes.c_uint64
allocator = ctypes.CDLL(sys.argv[1])
passed = U64.in_dll(allocator, "usdt_passed")
ctypes.CDLL("libcuda.so.1")
print("ready", flush=True)
sys.stdin.readline()
take = lambda address, device, size: allocator.usdt_take(U64(address), device, U64(size), U64(7))
take(0x1000, 0, 512)
take(0x2000, 3, 1 << 33)
allocator.usdt_give(U64(0x1000))
allocator.usdt_give(U64(0x9000))
take(0x1000, 1, 100)
print(passed.value)
"""


class Usdt(Uprobed):
    def start_program(self, *arguments):
        program = self.start(sys.executable, "-c", PROGRAM, os.environ["GMT_USDT_LIBRARY"], *arguments)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def test_allocations_and_frees(self):
        program = self.start_program()
        tracer = Tracer(self, program.pid)
        names = [os.path.basename(path) for path in tracer.said[0]["libraries"]]
        self.assertEqual(sorted(names), ["libc10_cuda.so", "libcuda.so.1"])
        out, error = program.communicate("go\n", timeout=LIMIT)
        self.assertEqual(out, "5\n", error)  # the semaphores were raised
        tracer.end()
        log = only_log(self.trace)
        got = [(event.kind, event.address, event.bytes, event.device) for event in log.events if event.kind < 16]
        alloc, free = GMT_TENSOR_ALLOC, GMT_TENSOR_FREE
        wanted = [(alloc, 0x1000, 512, 0), (alloc, 0x2000, 1 << 33, 3), (free, 0x1000, 512, 0)]
        self.assertEqual(got[:3], wanted)
        self.assertEqual(got[3][:3], (free, 0x9000, 0))  # from before the tracer: its size is not known
        self.assertEqual(got[4:], [(alloc, 0x1000, 100, 1)])
        for event in log.of_kind(alloc):
            self.assertIn(event.stack, log.stacks)

    def test_semaphores_are_lowered_again(self):
        program = self.start_program()
        Tracer(self, program.pid).detach()
        out, error = program.communicate("go\n", timeout=LIMIT)
        self.assertEqual(out, "0\n", error)

    def test_reports_come_first(self):
        """Where both are there, the reports are taken: nothing is told twice."""
        c10 = os.path.join(SIMULATOR, "allocator", "libc10.so")
        script = PROGRAM.replace("print(\"ready\"", "ctypes.CDLL(%r)\nprint(\"ready\"" % c10)
        program = self.start(sys.executable, "-c", script, os.environ["GMT_USDT_LIBRARY"])
        self.assertEqual(program.stdout.readline(), "ready\n")
        tracer = Tracer(self, program.pid)
        names = [os.path.basename(path) for path in tracer.said[0]["libraries"]]
        self.assertEqual(sorted(names), ["libc10.so", "libcuda.so.1"])
        self.assertEqual(program.communicate("go\n", timeout=LIMIT)[0], "0\n")
        tracer.end()


if __name__ == "__main__":
    main()
