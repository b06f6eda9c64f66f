"""Nothing is lost in a burst; what is lost where the tracer is held up is counted."""

from tracer import *  # noqa: F403

PAIRS = int(os.environ.get("GMT_BURST_PAIRS", "20000" if LONG else "8000"))


class Loss(Uprobed):
    stacks = LONG

    def burst(self, processes, threads, pairs):
        program = self.start(BURST, processes, threads, pairs, 1)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def totals(self, folder):
        """By process: allocations and frees, and what the log says was lost."""
        found = {}
        for log in logs(folder):
            self.assertEqual([event.sequence for event in log.events], list(range(1, log.next_sequence)))
            found[log.pid] = (len(log.of_kind(GMT_DEVICE_ALLOC)), len(log.of_kind(GMT_FREE)), sum(log.lost.values()))
        return found

    def test_a_burst_of_four_processes_with_four_threads(self):
        program = self.burst(4, 4, PAIRS)
        tracer = Tracer(self, program.pid, "--children", stacks=True)
        out, error = program.communicate("go\n", timeout=LIMIT)
        self.assertEqual(program.returncode, 0, error)
        self.assertEqual(tracer.end()["lost"], 0)
        pids = {int(line.split()[0]) for line in out.splitlines()}
        self.assertEqual(self.totals(self.trace), {pid: (PAIRS, PAIRS, 0) for pid in pids})
        self.assertEqual(len(pids), 4)

    def test_a_burst_keeps_the_order_of_a_reused_address(self):
        """An address is never taken twice without being freed in between, whichever threads do it."""
        program = self.burst(1, 4, PAIRS)
        tracer = Tracer(self, program.pid)
        program.communicate("go\n", timeout=LIMIT)
        tracer.end()
        alive = set()
        for event in only_log(self.trace).of_kind(GMT_DEVICE_ALLOC, GMT_FREE):
            if event.kind == GMT_FREE:
                alive.remove(event.address)
            else:
                self.assertNotIn(event.address, alive)
                alive.add(event.address)
        self.assertEqual(alive, set())

    def test_a_tracer_that_is_held_up_counts_what_it_loses(self):
        pairs = 20000
        program = self.burst(1, 4, pairs)
        tracer = Tracer(self, program.pid, "--ring-bytes", "65536")
        tracer.process.send_signal(signal.SIGSTOP)
        out, error = program.communicate("go\n", timeout=LIMIT)  # it is not held up
        self.assertEqual(program.returncode, 0, error)
        tracer.process.send_signal(signal.SIGCONT)
        summary = tracer.end()
        (allocations, frees, lost), = self.totals(self.trace).values()
        self.assertGreater(lost, pairs)
        self.assertEqual(allocations + frees + lost, 2 * pairs)
        self.assertEqual(set(only_log(self.trace).lost), {"GMT_LOST_RING"})
        self.assertEqual(summary["lost"], lost)
        self.assertEqual(sum(line["count"] for line in tracer.said if line["type"] == "lost"), lost)
        self.assertEqual({line["cause"] for line in tracer.said if line["type"] == "lost"}, {"ring full"})
        self.assertIn({"type": "exit", "pid": program.pid}, tracer.said)

    def test_a_tracer_that_was_held_up_goes_on(self):
        program = self.start(BURST, 1, 2, 20000, 2)
        self.assertEqual(program.stdout.readline(), "ready\n")
        tracer = Tracer(self, program.pid, "--ring-bytes", "65536")
        tracer.process.send_signal(signal.SIGSTOP)
        program.stdin.write("go\n")
        program.stdin.flush()
        program.stdout.readline()
        tracer.process.send_signal(signal.SIGCONT)
        self.assertIsNotNone(tracer.hear("lost"))
        program.communicate("go\n", timeout=LIMIT)
        tracer.end()
        (allocations, frees, lost), = self.totals(self.trace).values()
        self.assertEqual(allocations + frees + lost, 80000)


if __name__ == "__main__":
    main()
