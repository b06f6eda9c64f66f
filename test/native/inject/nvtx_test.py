"""Ranges of NVTX: what a program pushes, pops, starts and ends is in its log, and the program notices nothing."""

import os

from log_reader import *  # noqa: F403
from traced import BUILT, LIBRARY, Traced, main

PROGRAM = os.path.join(BUILT, "inject_nvtx")
CUT = "0123456789" * 9 + "01234"  # of 97 bytes: 96 would end inside a character


class Ranges(Traced):
    def traced_ranges(self, **environment):
        self.run_program(PROGRAM, NVTX_INJECTION64_PATH=LIBRARY, **environment)
        return only_log(self.trace)

    def test_the_log_has_those_of_threads_that_allocate(self):
        log = self.traced_ranges()
        first, second = sorted(log.threads)
        seen = [(thread, key, name) for thread, key, name, _ in log.ranges]
        started = next(key for _, key, name in seen if name == "across")
        self.assertTrue(started & GMT_RANGE_STARTED)
        pushed = [(1, "train_step"), (2, "attention"), (2, ""), (2, "Größe 例 🙂"), (2, ""), (2, "registered"), (started, "across"), (2, "")]
        pushed += [(2, ""), (2, ""), (2, CUT), (2, ""), (1, ""), (0, ""), (0, "to the end")]
        self.assertEqual([each[1:] for each in seen if each[0] == first], pushed)
        self.assertEqual([each for each in seen if each[0] == second], [(second, started, "")])
        self.assertEqual(log.lost, {})

    def test_allocations_lie_in_them_by_time(self):
        log = self.traced_ranges()
        at = {event.bytes: event.ticks for event in log.of_kind(GMT_TENSOR_ALLOC)}
        ticks = [tick for thread, _, _, tick in log.ranges if thread == min(log.threads)]
        self.assertEqual(ticks, sorted(ticks))
        for bytes, place in ((1024, 1), (2048, 3)):
            self.assertTrue(ticks[place] <= at[bytes] <= ticks[place + 1], bytes)

    def test_none_while_recording_is_off(self):
        self.write_control(recording=0, generation=1)
        self.assertEqual(self.traced_ranges().ranges, [])

    def test_none_where_another_tool_has_nvtx_or_nothing_is_traced(self):
        self.run_program(PROGRAM)
        self.assertEqual(only_log(self.trace).ranges, [])
        self.run_program(PROGRAM, traced=False, NVTX_INJECTION64_PATH=LIBRARY)


if __name__ == "__main__":
    main()
