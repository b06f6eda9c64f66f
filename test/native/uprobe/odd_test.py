"""A driver whose calls call each other, are left by jumps, and whose contexts were chosen before the tracer came."""

from tracer import *  # noqa: F403

FOLDER = os.path.dirname(BURST)


class Odd(Uprobed):
    stacks = LONG

    def record_mode(self, mode, *options):
        program = self.start(os.path.join(FOLDER, "uprobe_odd_program"), mode, simulator=os.path.join(FOLDER, "odd"))
        self.assertEqual(program.stdout.readline(), "ready\n")
        tracer = Tracer(self, program.pid, *options)
        out, error = program.communicate("go\n", timeout=LIMIT)
        self.assertEqual(program.returncode, 0, error)
        tracer.end()
        return only_log(self.trace)

    def test_a_call_inside_another_is_a_part_of_it(self):
        log = self.record_mode("nested")
        got = [(event.kind, event.bytes) for event in log.allocations_and_frees()]
        self.assertEqual(got, [(GMT_MANAGED_ALLOC, 100)] * 10 + [(GMT_DEVICE_ALLOC, 200)] * 5)
        self.assertEqual(log.lost, {})

    def test_what_hides_behind_a_call_that_was_left_is_counted(self):
        log = self.record_mode("left")
        self.assertEqual(log.lost, {"GMT_LOST_UNSUPPORTED": 64})
        self.assertEqual(len(log.of_kind(GMT_DEVICE_ALLOC)), 200 - 64)

    def test_a_context_from_before_the_tracer(self):
        for options in ((), ("--perf-probes",)):
            log = self.record_mode("contexts", *options)
            devices = [event.device for event in log.of_kind(GMT_DEVICE_ALLOC)]
            self.assertEqual(devices, [GMT_DEVICE_NONE, 5, 5, 5])
            self.assertTrue(any("has no GPU" in text for _, text in log.notes), log.notes)
            os.unlink(log.path)


if __name__ == "__main__":
    main()
