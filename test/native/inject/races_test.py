"""The library and a program, every access of both watched by the thread sanitizer: a race ends the program with status 66."""

from log_reader import *  # noqa: F403
from traced import PROGRAM, Traced, main

# A forked child has lost its parent's threads, and starts some of its own: neither is a fault here.
OPTIONS = "exitcode=66 report_thread_leaks=0 die_after_fork=0"


class Races(Traced):
    def run_watched(self, *arguments, **environment):
        return self.run_program(PROGRAM, *arguments, TSAN_OPTIONS=OPTIONS, **environment)

    def test_threads_that_fill_chunks(self):
        self.run_watched("storm", 8, 20000)
        log = only_log(self.trace, details=False)
        self.assertEqual((log.lost, len(log.sequences())), ({}, 160002))

    def test_threads_that_begin_and_end(self):
        self.run_watched("short", 400)
        log = only_log(self.trace)
        self.assertEqual((log.lost, len(log.of_kind(GMT_TENSOR_ALLOC))), ({}, 4000))

    def test_threads_that_share_chunks(self):
        self.run_watched("in_turn", 20, 40, GPU_MEMTRACE_BUDGET=str(16 * GMT_CHUNK_BYTES))
        log = only_log(self.trace)
        self.assertEqual((log.lost, len(log.of_kind(GMT_TENSOR_ALLOC))), ({}, 20 * 40 * 23))
        self.assertLessEqual(log.chunks, 12)  # those of 8 places, and of threads that found all others writing

    def test_guests_that_come_and_go(self):
        self.run_watched("guests", 4, 2000)

    def test_no_room(self):
        self.run_watched("storm", 6, 12000, GPU_MEMTRACE_BUDGET="2000000")
        self.assertEqual(list(only_log(self.trace, details=False).lost), ["GMT_LOST_BUDGET"])

    def test_recording_is_switched(self):
        self.write_control(1, 1)
        self.run_watched("switched", 4, 5000)
        log = only_log(self.trace, details=False)
        self.assertEqual(log.sequences(), list(range(1, log.next_sequence)))

    def test_a_fork(self):
        # Not of a program that has more threads: what watches ends the child as soon as that starts one.
        self.run_watched("fork_leftover")
        self.assertEqual(len(logs(self.trace)), 2)

    def test_driver_calls(self):
        self.run_watched("drive", 4, 300)


if __name__ == "__main__":
    main()
