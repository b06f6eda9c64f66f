"""The log writer under fire: threads, forks, signals, closed descriptors, ends of every kind, switches."""

import os
import shutil
import signal
import subprocess
import sys
import time

from log_reader import *  # noqa: F403
from long_run import LONG
from traced import LIBRARY, PROGRAM, PROGRAMS, Phases, Traced, main


class Threads(Traced):
    def test_none_of_many_is_lost(self):
        each = 100000 if LONG else 40000
        self.run_program(PROGRAM, "storm", 16, each)
        log = only_log(self.trace, details=False)
        self.assertEqual(log.lost, {})
        self.assertEqual(log.sequences(), list(range(1, 16 * each + 2 + 1)))  # the start and the end are events too
        self.assertEqual((log.next_sequence, log.thread_count), (16 * each + 3, 17))

    def test_each_thread_s_events_are_whole(self):
        self.run_program(PROGRAM, "storm", 4, 5000)
        log = only_log(self.trace)
        seen = {}
        for event in log.of_kind(GMT_TENSOR_ALLOC):
            seen.setdefault(event.address >> 32, []).append((event.address & 0xFFFFFFFF, event.thread))
            self.assertEqual((event.bytes, event.device, event.failed), (512, 0, False))
        self.assertEqual(sorted(seen), [1, 2, 3, 4])
        for events in seen.values():
            self.assertEqual([place for place, _ in events], list(range(1, 5001)))
            self.assertEqual(len({thread for _, thread in events}), 1)
        for events in seen.values():
            self.assertIn(events[0][1], log.threads)

    def test_short_threads_share_chunks(self):
        self.run_program(PROGRAM, "short", 3000)
        log = only_log(self.trace)
        self.assertEqual(len(log.of_kind(GMT_TENSOR_ALLOC)), 30000)
        self.assertEqual(len(log.threads), log.thread_count)
        self.assertGreaterEqual(log.thread_count, 3000)
        self.assertLess(log.chunks, 40)
        self.assertEqual(log.lost, {})
        ordered = [event.ticks for event in log.events if event.thread == 5]
        self.assertEqual(ordered, sorted(ordered))


class Late(Traced):
    def test_a_running_program_can_load_it(self):
        """glibc refuses a library whose thread-local variables must be aligned better than its own."""
        self.run_program(PROGRAM, "load", LIBRARY, traced=False, preload=False)


class Children(Traced):
    def tags(self, log):
        counts = {}
        for event in log.of_kind(GMT_TENSOR_ALLOC):
            counts[event.address >> 32] = counts.get(event.address >> 32, 0) + 1
        return counts

    def by_parent(self):
        found = logs(self.trace)
        pids = {log.pid for log in found}
        return sorted(found, key=lambda log: log.parent_pid in pids)

    def check_dense(self, log):
        self.assertEqual([event.sequence for event in log.events], list(range(1, log.next_sequence)))
        self.assertEqual(log.lost, {})

    def test_a_forked_child_has_its_own_log(self):
        self.run_program(PROGRAM, "fork")
        parent, child = self.by_parent()
        self.assertEqual(self.tags(parent), {1: 20000, 2: 20000, 3: 100, 4: 100})
        self.assertEqual(self.tags(child), {9: 100})
        for log in (parent, child):
            self.check_dense(log)
            self.assertEqual(log.ended, 1)

    def test_a_parent_s_chunk_is_no_spare_of_the_child(self):
        self.run_program(PROGRAM, "fork_leftover")
        parent, child = self.by_parent()
        self.assertEqual(self.tags(parent), {1: 10, 2: 10})
        self.assertEqual(self.tags(child), {9: 10, 8: 10})
        self.check_dense(parent)
        self.check_dense(child)

    def test_a_fork_amid_a_thread_s_first_event(self):
        self.run_program(PROGRAM, "fork_opening")
        parent, child = self.by_parent()
        self.assertEqual((self.tags(parent), self.tags(child)), ({1: 10}, {9: 100}))
        self.check_dense(parent)
        self.check_dense(child)

    def test_what_is_lost_while_the_log_is_opened_is_counted(self):
        self.run_program(PROGRAM, "slow_opening")
        log = only_log(self.trace)
        self.assertEqual((self.tags(log), log.lost), ({1: 10, 3: 10}, {"GMT_LOST_LOG_FILE": 100}))

    def test_a_child_without_allocations_has_no_log(self):
        self.run_program(PROGRAM, "fork_idle")
        self.assertEqual(self.tags(only_log(self.trace)), {1: 10})

    def test_exec_begins_a_new_log(self):
        self.run_program(PROGRAM, "spawn")
        found = sorted(logs(self.trace), key=lambda log: sum(self.tags(log).values()))
        self.assertEqual([sum(self.tags(log).values()) for log in found], [5, 7, 20])
        self.assertEqual([log.ended for log in found], [1, 1, 0])  # the last one was replaced by exec
        self.assertEqual(found[0].pid, found[2].pid)
        self.assertEqual([log.command[1:] for log in found], [["storm", "1", "5"], ["storm", "1", "7"], ["spawn"]])


class Ends(Traced):
    def test_killed(self):
        program = subprocess.Popen([PROGRAM, "forever"], env=self.environment(), stdout=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), b"busy\n")
        while only_log(self.trace, details=False).next_sequence < 6000:
            time.sleep(0.005)
        program.send_signal(signal.SIGKILL)
        program.wait()
        program.stdout.close()
        log = only_log(self.trace, details=False)
        found = log.sequences()
        self.assertEqual(len(set(found)), len(found))
        self.assertGreater(len(found), 5000)
        self.assertLessEqual(log.next_sequence - 1 - len(found), 4)  # one a thread may have a number and no place
        self.assertEqual((log.ended, log.lost), (0, {}))

    def ending(self, log):
        return [event.kind for event in log.events][-1] == GMT_PROCESS_ENDING, log.ended

    def test_exits(self):
        for way, status, expected in (("exit", 7, (True, 1)), ("_exit", 7, (False, 0)), ("abort", -6, (False, 0))):
            with self.subTest(way):
                self.run_program(PROGRAM, "exit", way, status=status)
                log = only_log(self.trace)
                self.assertEqual(self.ending(log), expected)
                os.unlink(log.path)

    def test_ends_of_python(self):
        script = os.path.join(PROGRAMS, "allocate.py")
        ways = (("return", 0, True), ("sys.exit", 3, True), ("raise", 1, True), ("os._exit", 4, False))
        for way, status, marked in ways:
            with self.subTest(way):
                self.run_program(sys.executable, script, way, status=status)
                log = only_log(self.trace)
                marks = log.of_kind(GMT_PROCESS_ENDING)
                self.assertEqual((len(marks), log.ended), (1 if marked else 0, 1 if marked else 0))
                self.assertEqual(len(log.of_kind(GMT_DEVICE_ALLOC)), 2)
                os.unlink(log.path)

    def test_the_end_is_told_while_recording_is_off(self):
        self.write_control(1, 1)
        program = Phases(self, 10)
        program.next()
        self.write_control(0, 2)
        program.next()
        self.assertEqual(program.end()[0], 0)
        self.assertEqual(only_log(self.trace).ended, 1)


class Guests(Traced):
    def test_closed_descriptors(self):
        self.run_program(PROGRAM, "descriptors")
        log = only_log(self.trace, details=False)
        self.assertEqual(len(log.sequences()), 201002)
        self.assertEqual(log.lost, {})

    def test_errno_stays(self):
        self.run_program(PROGRAM, "errno")
        self.assertEqual(len(only_log(self.trace).of_kind(GMT_TENSOR_ALLOC)), 20001)

    def check_alarms(self):
        made, in_handler = map(int, self.run_program(PROGRAM, "alarms", 300000).stdout.split())
        log = only_log(self.trace, details=False)
        lost = log.lost.pop("GMT_LOST_REENTRANT", 0)
        self.assertEqual(log.lost, {})
        found = log.sequences()
        self.assertEqual(found, list(range(1, len(found) + 1)))
        self.assertEqual(len(found) + lost, made + in_handler + 2)
        self.assertGreater(in_handler, 100)

    def test_allocations_in_signal_handlers(self):
        self.check_alarms()

    def test_allocations_in_signal_handlers_on_tmpfs(self):
        if not os.path.isdir("/dev/shm"):
            self.skipTest("no tmpfs here")
        self.trace = os.path.join("/dev/shm", os.path.basename(self.folder))
        os.mkdir(self.trace, 0o700)
        self.addCleanup(shutil.rmtree, self.trace, ignore_errors=True)
        self.check_alarms()


class Control(Traced):
    def test_switches(self):
        self.write_control(1, 1)
        os.chmod(os.path.join(self.trace, "control"), 0o444)
        program = Phases(self, 100)
        for recording in (1, 0, 1, 0, 1):
            program.next()
            self.write_control(1 - recording, self.generation())
        self.assertEqual(program.end()[0], 0)
        log = only_log(self.trace)
        self.assertEqual({event.address >> 32 for event in log.of_kind(GMT_TENSOR_ALLOC)}, {1, 3, 5})
        marks = [event.kind for event in log.events if event.kind >= 64]
        start, stop = GMT_RECORDING_START, GMT_RECORDING_STOP
        self.assertEqual(marks[:5], [start, stop, start, stop, start])
        self.assertEqual(len(log.of_kind(GMT_TENSOR_ALLOC)), 300)
        self.assertEqual([event.sequence for event in log.events], list(range(1, log.next_sequence)))

    def generation(self):
        self.last = getattr(self, "last", 1) + 1
        return self.last

    def test_off_from_the_start(self):
        self.write_control(0, 1)
        program = Phases(self, 100)
        program.next()
        self.write_control(1, 2)
        program.next()
        program.end()
        log = only_log(self.trace)
        self.assertEqual({event.address >> 32 for event in log.of_kind(GMT_TENSOR_ALLOC)}, {2})
        self.assertEqual([event.kind for event in log.events][:2], [GMT_RECORDING_STOP, GMT_RECORDING_START])

    def test_threads_of_a_program_that_sleeps_take_nothing(self):
        self.write_control(0, 1)
        self.run_program(PROGRAM, "storm", 16, 1000)
        log = only_log(self.trace)
        self.assertEqual([event.kind for event in log.events], [GMT_RECORDING_STOP])
        self.assertEqual((log.thread_count, log.chunks, log.lost), (1, 1, {}))

    def test_two_switches_between_two_events(self):
        self.write_control(1, 1)
        program = Phases(self, 10)
        program.next()
        self.write_control(1, 3)
        program.next()
        program.end()
        kinds = [event.kind for event in only_log(self.trace).events if event.kind >= 64]
        self.assertEqual(kinds[:3], [GMT_RECORDING_START, GMT_RECORDING_STOP, GMT_RECORDING_START])

    def test_strange_control_files_record(self):
        for content in (b"", b"short", b"\0" * 64):
            with self.subTest(content):
                with open(os.path.join(self.trace, "control"), "wb") as control:
                    control.write(content)
                self.run_program(PROGRAM, "storm", 1, 10)
                log = only_log(self.trace)
                self.assertEqual(len(log.of_kind(GMT_TENSOR_ALLOC)), 10)
                os.unlink(log.path)


if __name__ == "__main__":
    main()
