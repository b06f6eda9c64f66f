"""Attaching to a job whose allocator has handed out blocks: they are known, marked, and end with their frees."""

import json
import os
import shutil
import sys
import unittest
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "uprobe"))

from tracer import *  # noqa: E402, F403

LIBRARY = os.environ.get("GMT_BEFORE_LIBRARY", "")
C10 = os.path.join(SIMULATOR, "allocator", "libc10.so")
JOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "job.py")
VERSIONS = (0, 1, 2)
PYTHON314 = os.environ.get("GMT_PYTHON314") or shutil.which("python3.14")


class Job:
    def __init__(self, test, library=LIBRARY, devices=2, python=sys.executable, **environment):
        preload = ":".join([os.path.join(SIMULATOR, "libcuda.so.1"), C10])
        self.process = test.start(
            python, JOB, *([library] if library else []), LD_PRELOAD=preload,
            GPU_MEMTRACE_SIM_DEVICES=str(devices), **environment,
        )  # fmt: skip
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()
        self.pid = self.process.pid

    def begin(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def __call__(self, *words):
        self.begin(*words)
        return self.answer()

    def end(self):
        self.process.communicate(timeout=LIMIT)
        return self.process.returncode


class Books:
    """What is alive by a log's events; `unknown`: frees of what was never seen allocated, `twice`: allocations of what lives."""

    def __init__(self, log):
        self.before = {stack for stack, flags in log.stack_flags.items() if flags & GMT_STACK_BEFORE_ATTACH}
        self.tensors, self.driver, self.unknown, self.twice = {}, {}, [], []
        self.reserved = {}
        for event in log.events:
            self.take(event)

    def take(self, event):
        book = self.tensors if event.kind in (GMT_TENSOR_ALLOC, GMT_TENSOR_FREE) else self.driver
        if event.kind in (GMT_TENSOR_ALLOC, GMT_DEVICE_ALLOC):
            if event.address in book:
                self.twice.append(event)
            book[event.address] = event
        elif event.kind in (GMT_TENSOR_FREE, GMT_FREE):
            begun = book.pop(event.address, None)
            if begun is None or (event.kind == GMT_TENSOR_FREE and begun.bytes != event.bytes):
                self.unknown.append(event)
        elif event.kind == GMT_RESERVED:
            self.reserved[event.device] = event.bytes

    def bytes(self, book, device):
        return sum(event.bytes for event in book.values() if event.device == device)

    def from_before(self):
        return [event for event in self.tensors.values() if event.stack in self.before]


class Before(Uprobed):
    def notes(self, log):
        return [text for code, text in log.notes if code == GMT_NOTE_ATTACHED]

    def check_equal(self, books, totals):
        for device, (allocated, reserved) in enumerate(totals):
            self.assertEqual(books.bytes(books.tensors, device), allocated, "tensors of device %d" % device)
            self.assertEqual(books.bytes(books.driver, device), reserved, "segments of device %d" % device)
            self.assertEqual(books.reserved.get(device, 0), reserved)
        self.assertEqual((books.unknown, books.twice), ([], []))

    def test_blocks_of_before_are_known_in_every_version(self):
        for version in VERSIONS:
            job = Job(self)
            job("start", version, 2)
            job("allocate", 300, 700, 0)
            job("allocate", 5, 3 << 20, 1)
            job("free", 100)
            before = job("totals", 2)
            tracer = Tracer(self, job.pid)
            job("allocate", 40, 2000, 0)
            job("allocate", 1, 9000, 1)
            job("free", 150)
            totals = job("totals", 2)
            self.assertEqual(tracer.detach()["lost"], 0)
            self.assertEqual(job.end(), 0)
            log = only_log(self.trace)
            books = Books(log)
            self.check_equal(books, totals)
            self.assertEqual(len(books.from_before()), 55)
            self.assertEqual(len(books.tensors), 96)
            self.assertEqual([log.stacks[stack] for stack in books.before], [[]])
            notes = self.notes(log)
            self.assertIn("205 blocks", notes[0])
            self.assertEqual(len(notes), 3, notes)
            for device, note in enumerate(sorted(notes[1:])):
                self.assertIn("gpu_%d" % device, note)
                self.assertIn("all of it is known", note)
            recovered = [e for e in log.events if e.kind == GMT_TENSOR_ALLOC and e.stack in books.before]
            self.assertEqual(sum(e.bytes for e in recovered), sum(allocated for allocated, _ in before))
            first_seen = min(e.sequence for e in log.events if e.kind < 64 and e.stack not in books.before and e.kind != GMT_RESERVED)
            self.assertLess(max(e.sequence for e in recovered), first_seen)
            os.unlink(log.path)

    def test_while_threads_allocate_and_free(self):
        for round in range(6):
            job = Job(self)
            job("start", VERSIONS[round % 3], 2)
            job("allocate", 3000, 700, 0)
            job("churn", 3, 2)
            time.sleep(0.05)
            tracer = Tracer(self, job.pid, "--no-stacks")
            time.sleep(0.05)
            job("calm")
            job("free", 1000)
            totals = job("totals", 2)
            self.assertEqual(tracer.detach()["lost"], 0)
            self.assertEqual(job.end(), 0)
            log = only_log(self.trace)
            books = Books(log)
            self.check_equal(books, totals)
            self.assertGreaterEqual(len(books.from_before()), 2000)
            self.assertEqual([note for note in self.notes(log)[1:] if "all of it is known" not in note], [])
            os.unlink(log.path)

    def check_unknown(self, job, words, then=()):
        tracer = Tracer(self, job.pid)
        for command in then:
            job(*command)
        tracer.detach()
        log = only_log(self.trace)
        self.assertEqual([event for event in log.events if event.kind < 64 and event.kind != GMT_RESERVED][:1], [])
        self.assertIn("what was allocated before is not known: " + words, " ".join(self.notes(log)))
        os.unlink(log.path)
        job.end()

    def test_what_cannot_be_known_is_said(self):
        self.check_unknown(Job(self, library=None), "the program has not loaded PyTorch's CUDA allocator")
        self.check_unknown(Job(self), "PyTorch has made no CUDA allocator yet")
        job = Job(self)
        job("start", 3, 1)
        self.check_unknown(job, "PyTorch allocates with cudaMallocAsync")

    def test_nothing_is_read_while_recording_is_off(self):
        with open(os.path.join(self.trace, "control"), "wb") as control:
            control.write(b"MCTL" + (1).to_bytes(4, "little") + bytes(56))
        job = Job(self)
        job("start", 1, 1)
        job("allocate", 3, 700, 0)
        self.check_unknown(job, "recording was off", then=[("free", 1)])

    def attach_to_314(self, busy, **environment):
        """Gives the books, what the job says, and how it was known."""
        job = Job(self, python=PYTHON314, **environment)
        job("start", 1, 1)
        job("allocate", 50, 700, 0)
        job("pretend_torch", 1)
        if busy:
            job.begin("idle", 4000)
        tracer = Tracer(self, job.pid)
        if busy:
            job.answer()
        job("free", 20)
        totals = job("totals", 1)
        self.assertEqual(sorted(os.listdir(self.trace)), sorted(name for name in os.listdir(self.trace) if ".before" not in name))
        tracer.detach()
        out, error = job.process.communicate(timeout=LIMIT)
        self.assertEqual((job.process.returncode, out, error), (0, "", ""))
        log = only_log(self.trace)
        os.unlink(log.path)
        books = Books(log)
        self.assertEqual(books.bytes(books.tensors, 0), totals[0][0])
        self.assertEqual((len(books.from_before()), books.unknown, books.twice), (30, [], []))
        return self.notes(log)

    @unittest.skipUnless(PYTHON314, "there is no Python 3.14 here")
    def test_python_314_is_asked(self):
        notes = self.attach_to_314(busy=True)
        self.assertIn("50 blocks", notes[0])
        self.assertIn("by its own account", notes[0])
        self.assertIn("all of it is known", notes[1])

    @unittest.skipUnless(PYTHON314, "there is no Python 3.14 here")
    def test_python_314_that_does_not_answer_is_read(self):
        self.assertIn("read from outside", self.attach_to_314(busy=False)[0])
        self.assertIn("read from outside", self.attach_to_314(busy=True, PYTHON_DISABLE_REMOTE_DEBUG="1")[0])


if __name__ == "__main__":
    main()
