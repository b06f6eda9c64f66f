"""Attaching to a job that holds memory: one sum for each GPU, of PyTorch by its first report and of the driver by what the tracer was given."""

from tracer import *  # noqa: F403

JOB = """
import ctypes, json, os, sys
torch = ctypes.CDLL(os.path.join(sys.argv[1], "allocator", "libc10_cuda.so"))
torch.sim_torch_empty.restype = ctypes.c_void_p
torch.sim_torch_empty.argtypes = [ctypes.c_uint64, ctypes.c_int]
torch.sim_torch_free.argtypes = [ctypes.c_void_p]
torch.sim_torch_device_count()  # loads the driver
live = {0: [], 1: []}
print("ready", flush=True)
for line in sys.stdin:
    what, device, count, size = line.split()
    for _ in range(int(count)):
        if what == "allocate":
            live[int(device)].append(torch.sim_torch_empty(int(size), int(device)))
        else:
            torch.sim_torch_free(live[int(device)].pop(0))
    stats = (ctypes.c_uint64 * 9)()
    torch.sim_torch_stats(int(device), stats)
    print(stats[2], flush=True)
"""
MIB = 1 << 20


class Job:
    def __init__(self, test):
        self.process = test.start(sys.executable, "-c", JOB, SIMULATOR, GPU_MEMTRACE_SIM_DEVICES="2")
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()
        self.pid = self.process.pid

    def __call__(self, what, device, count, size=0):
        """The bytes of the device that are handed out then."""
        self.process.stdin.write("%s %d %d %d\n" % (what, device, count, size))
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


class Earlier(Uprobed):
    stacks = LONG

    def attach(self, job, *bytes_on_gpus):
        words = [word for size in bytes_on_gpus for word in ("--earlier-bytes", str(size))]
        return Tracer(self, job.pid, *words)

    def end(self, tracer):
        self.assertEqual(tracer.detach()["lost"], 0)
        log = only_log(self.trace)
        os.unlink(log.path)
        self.notes = [text for code, text in log.notes if code == GMT_NOTE_ATTACHED]
        self.sums = [event for event in log.events if event.kind < 64 and event.address == GMT_EARLIER_ADDRESS]
        before = {stack for stack, flags in log.stack_flags.items() if flags & GMT_STACK_BEFORE_ATTACH}
        self.assertEqual({event.stack for event in self.sums} - before, set())
        self.assertEqual([log.stacks[stack] for stack in before], [[]])
        return log

    def of_kind(self, kind):
        return [(event.device, event.bytes) for event in self.sums if event.kind == kind]

    def test_tensors_by_the_first_report_on_each_device(self):
        job = Job(self)
        first, second = job("allocate", 0, 30, 3000), job("allocate", 1, 2, 3 * MIB)
        tracer = self.attach(job)
        job("allocate", 0, 5, 700)
        job("free", 1, 1)
        job("free", 0, 32)
        log = self.end(tracer)
        self.assertEqual(self.of_kind(GMT_TENSOR_ALLOC), [(0, first), (1, second)])
        self.assertEqual(self.of_kind(GMT_DEVICE_ALLOC), [])
        self.assertEqual(len(self.notes), 3)
        self.assertNotRegex(self.notes[0], r"\d [KMG]?i?B")
        self.assertRegex(self.notes[2], "gpu_1 .*6 MiB")
        first_event = next(event for event in log.events if event.kind in (GMT_TENSOR_ALLOC, GMT_TENSOR_FREE, GMT_RESERVED))
        self.assertEqual(first_event.address, GMT_EARLIER_ADDRESS)
        self.assertEqual(len(log.of_kind(GMT_TENSOR_FREE)), 33)

    def test_what_was_not_there_has_no_sum(self):
        job = Job(self)
        tracer = self.attach(job)
        job("allocate", 0, 5, 700)
        self.end(tracer)
        self.assertEqual((self.sums, len(self.notes)), ([], 1))

    def test_driver_memory_of_one_gpu_is_on_that_of_the_first_event(self):
        job = Job(self)
        job("allocate", 1, 1, MIB)
        tracer = self.attach(job, 700 * MIB)
        job("allocate", 1, 1, 64 * MIB)
        self.end(tracer)
        self.assertEqual(self.of_kind(GMT_DEVICE_ALLOC), [(1, 700 * MIB)])
        self.assertRegex(self.notes[0], "nvidia-smi.* 700 MiB")

    def test_driver_memory_of_several_gpus_is_on_none(self):
        job = Job(self)
        job("allocate", 0, 1, MIB)
        tracer = self.attach(job, 700 * MIB, 324 * MIB)
        job("allocate", 1, 1, 64 * MIB)
        self.end(tracer)
        self.assertEqual(self.of_kind(GMT_DEVICE_ALLOC), [(GMT_DEVICE_NONE, 1024 * MIB)])
        self.assertRegex(self.notes[0], "1 GiB .*2 GPUs")

    def test_a_job_that_does_nothing_holds_what_it_held(self):
        tracer = self.attach(Job(self), 5 * MIB)
        self.end(tracer)
        self.assertEqual(self.of_kind(GMT_DEVICE_ALLOC), [(GMT_DEVICE_NONE, 5 * MIB)])

    def test_nothing_is_told_of_tensors_while_recording_is_off(self):
        with open(os.path.join(self.trace, "control"), "wb") as control:
            control.write(b"MCTL" + (1).to_bytes(4, "little") + bytes(56))
        job = Job(self)
        tracer = self.attach(job)
        self.assertGreater(job("allocate", 0, 3, 700), 0)
        self.end(tracer)
        self.assertEqual((self.sums, len(self.notes)), ([], 1))


if __name__ == "__main__":
    main()
