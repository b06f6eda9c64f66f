"""The log writer without room: a budget, full disks, limits of file sizes, directories that are gone or cannot be written."""

import os
import resource
import shutil
import signal
import subprocess
import sys

from log_reader import *  # noqa: F403
from traced import BUILT, PROGRAM, PROGRAMS, Phases, Traced, main

SPELLING = os.path.join(BUILT, "c10_0")


class Room(Traced):
    def test_budget(self):
        self.run_program(PROGRAM, "storm", 4, 50000, GPU_MEMTRACE_BUDGET=str(6 * GMT_CHUNK_BYTES))
        log = only_log(self.trace)
        kept = len(log.of_kind(GMT_TENSOR_ALLOC))
        self.assertEqual(log.chunks, 6)
        self.assertLessEqual(os.path.getsize(log.path), 65536 + 6 * GMT_CHUNK_BYTES)
        self.assertEqual(sorted(log.lost), ["GMT_LOST_BUDGET"])
        self.assertIn(log.lost["GMT_LOST_BUDGET"] - (200000 - kept), (0, 1))  # 1: the mark of the end
        self.assertEqual(log.ended, 1)

    def test_many_losses_of_a_first_event_use_up_no_threads(self):
        self.run_program(PROGRAM, "storm", 2, 100000, GPU_MEMTRACE_BUDGET="1")
        log = only_log(self.trace)
        self.assertEqual((sorted(log.lost), log.events), (["GMT_LOST_BUDGET"], []))
        self.assertLessEqual(log.thread_count, 3)

    def mount(self, size):
        os.makedirs(self.trace, exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", "size=" + size, "gmt-test", self.trace]
        if subprocess.call(command, stderr=subprocess.DEVNULL) != 0:
            self.skipTest("no tmpfs of its own can be mounted here (needs root)")
        self.addCleanup(subprocess.call, ["umount", self.trace])

    def test_full_disk_and_space_again(self):
        self.mount("700k")  # header and two chunks
        program = Phases(self, 50000)
        program.next()
        full = only_log(self.trace)
        self.assertEqual(sorted(full.lost), ["GMT_LOST_DISK_FULL"])
        self.assertEqual(full.lost["GMT_LOST_DISK_FULL"] + len(full.of_kind(GMT_TENSOR_ALLOC)), 50000)
        subprocess.check_call(["mount", "-o", "remount,size=32m", self.trace])
        program.next()
        self.assertEqual(program.end()[0::2], (0, ""))
        log = only_log(self.trace)
        self.assertEqual(log.lost, full.lost)
        second = [event for event in log.of_kind(GMT_TENSOR_ALLOC) if event.address >> 32 == 2]
        self.assertEqual(len(second), 50000)
        self.assertEqual([event.sequence for event in log.events], list(range(1, log.next_sequence)))

    def test_full_from_the_first_event_on(self):
        self.mount("128k")  # the header alone
        program = Phases(self, 70000)
        program.next()
        self.assertEqual(only_log(self.trace).lost, {"GMT_LOST_DISK_FULL": 70000})
        subprocess.check_call(["mount", "-o", "remount,size=32m", self.trace])
        program.next()
        self.assertEqual(program.end()[0], 0)
        log = only_log(self.trace)
        self.assertEqual(len(log.of_kind(GMT_TENSOR_ALLOC)), 70000)
        self.assertEqual(log.events[0].kind, GMT_RECORDING_START)
        self.assertEqual(log.command[1:], ["phases", "70000"])

    def test_a_stack_that_found_no_room_is_described_later(self):
        self.mount("700k")
        phases = [sys.executable, os.path.join(PROGRAMS, "python_phases.py")]
        program = Phases(self, 20000, command=phases, simulator=SPELLING)
        program.next()
        program.next()  # from another line
        full = only_log(self.trace)
        self.assertEqual(full.lost, {"GMT_LOST_DISK_FULL": 40000 - len(full.of_kind(GMT_TENSOR_ALLOC))})
        subprocess.check_call(["mount", "-o", "remount,size=32m", self.trace])
        program.next()
        self.assertEqual(program.end()[0], 0)
        log = only_log(self.trace)
        self.assertEqual(log.lost, full.lost)
        later = log.of_kind(GMT_TENSOR_ALLOC)[-20000:]
        self.assertEqual(len({event.stack for event in later}), 1)
        self.assertEqual(len(log.stacks.get(later[0].stack, ())), 2)
        for code, _ in log.stacks[later[0].stack]:
            self.assertIn(code, log.codes)

    def seconds_of(self, *command, **environment):
        """Processor time of a program, in the kernel too."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run_program(*command, **environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_a_full_disk_costs_no_more_than_recording(self):
        events = 200000
        recorded = self.seconds_of(PROGRAM, "storm", 1, events)
        os.unlink(only_log(self.trace, details=False).path)
        for size in ("128k", "700k"):  # the header alone; header and two chunks
            with self.subTest(size):
                self.mount(size)
                full = self.seconds_of(PROGRAM, "storm", 1, events)
                log = only_log(self.trace)
                self.assertGreater(log.lost["GMT_LOST_DISK_FULL"], events // 2)
                self.assertLess(full, 5 * recorded)

    def limit_files(self, bytes):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, bytes))

    def test_a_limit_of_file_sizes_is_a_counted_loss(self):
        limit = self.limit_files(1 << 20)
        self.run_program(PROGRAM, "storm", 4, 50000, preexec_fn=limit)
        log = only_log(self.trace)
        kept = len(log.of_kind(GMT_TENSOR_ALLOC))
        self.assertGreater(kept, 0)
        self.assertEqual(sorted(log.lost), ["GMT_LOST_FILE_LIMIT"])
        self.assertIn(log.lost["GMT_LOST_FILE_LIMIT"] - (200000 - kept), (0, 1))  # 1: the mark of the end
        self.assertEqual(log.ended, 1)

    def test_a_limit_that_leaves_no_room_for_a_log(self):
        limit = self.limit_files(1024)
        done = self.run_program(PROGRAM, "storm", 1, 10, preexec_fn=limit)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(os.listdir(self.trace), [])

    def test_the_program_s_own_files_meet_the_limit_as_before(self):
        code = """import os, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
sys.argv[1:] = ["return"]
runpy.run_path(%r)
for _ in range(2):
    os.write(os.open("big", os.O_CREAT | os.O_WRONLY | os.O_APPEND), bytes(1 << 16))
""" % os.path.join(PROGRAMS, "allocate.py")
        for traced in (False, True):
            program, limit = (sys.executable, "-c", code), self.limit_files(1 << 16)
            self.run_program(*program, status=-signal.SIGXFSZ, traced=traced, preexec_fn=limit)
            os.unlink(os.path.join(self.folder, "big"))
        self.assertEqual(only_log(self.trace).lost.popitem()[0], "GMT_LOST_FILE_LIMIT")

    def test_a_log_that_was_deleted(self):
        program = Phases(self, 20000)
        program.next()
        path = only_log(self.trace).path
        kept = os.open(path, os.O_RDONLY)
        shutil.rmtree(self.trace)
        program.next()
        program.next()
        self.assertEqual(program.end(), (0, "", ""))
        self.assertEqual(os.listdir(self.folder), [])
        with os.fdopen(kept, "rb") as deleted, open(os.path.join(self.folder, "saved"), "wb") as copy:
            shutil.copyfileobj(deleted, copy)
        self.assertEqual(sorted(Log(os.path.join(self.folder, "saved")).lost), ["GMT_LOST_LOG_FILE"])

    def check_refused(self, directory):
        plain = self.run_program(PROGRAM, "exit", "exit", status=7, traced=False)
        done = self.run_program(PROGRAM, "exit", "exit", status=7, GPU_MEMTRACE_DIR=directory)
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("not recorded", done.stderr)
        self.assertIn(directory, done.stderr)

    def test_stderr_that_is_a_file_of_the_program(self):
        """It may be its data: the line goes into the trace's folder, where there is room for that."""
        for room in (True, False):
            if room and os.geteuid() == 0:
                self.mount("32k")
            directory = self.trace if room and os.geteuid() == 0 else os.path.join(self.folder, "missing")
            data = os.path.join(self.folder, "data")
            with open(data, "w") as stderr:
                subprocess.run([PROGRAM, "exit", "exit"], env=self.environment(GPU_MEMTRACE_DIR=directory), stderr=stderr)
            self.assertEqual(os.path.getsize(data), 0)
            if directory == self.trace:
                notes = [name for name in os.listdir(directory) if name.startswith("not-recorded-")]
                self.assertEqual(len(notes), 1, os.listdir(directory))
                with open(os.path.join(directory, notes[0])) as note:
                    self.assertTrue(note.read())

    def test_missing_directory(self):
        self.check_refused(os.path.join(self.folder, "missing"))

    def test_directory_that_is_a_file(self):
        path = os.path.join(self.folder, "file")
        open(path, "w").close()
        self.check_refused(path)

    def test_read_only_directory(self):
        if os.geteuid() == 0:
            self.mount("1m")
            subprocess.check_call(["mount", "-o", "remount,ro", self.trace])
        else:
            os.chmod(self.trace, 0o500)
        self.check_refused(self.trace)


if __name__ == "__main__":
    main()
