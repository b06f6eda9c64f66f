"""One CUPTI subscription for two: a program's own profiler sees what it would see alone, and the log has no gap."""

import os

from log_reader import *  # noqa: F403
from traced import BUILT, Traced, main

PROFILER = os.path.join(BUILT, "inject_profiler")
SCENES = ("single", "domain", "unsubscribe", "finalize")


class Shared(Traced):
    def check(self, how, when, scene, **environment):
        command = [PROFILER, how, when, scene]
        plain = self.run_program(*command, traced=False, preload=False)
        shared = self.run_program(*command, **environment)
        self.assertEqual(shared.stdout, plain.stdout)
        self.assertIn("callback user 1", shared.stdout)
        log = only_log(self.trace)
        os.unlink(log.path)
        self.assertEqual((log.driver_source, log.lost), (GMT_DRIVER_CUPTI, {}))
        wanted = []
        for line in shared.stderr.split():
            address = int(line, 16)
            wanted += [(GMT_DEVICE_ALLOC, address), (GMT_FREE, address), (GMT_FREE, address), (GMT_FREE_UNDONE, address)]
        kinds = (GMT_DEVICE_ALLOC, GMT_FREE, GMT_FREE_UNDONE)
        self.assertEqual([(event.kind, event.address) for event in log.of_kind(*kinds)], wanted)
        self.assertGreaterEqual(len(wanted), 8)

    def test_it_sees_the_same(self):
        for how, when in (("import", "before"), ("import", "after"), ("dlsym", "after")):
            for scene in SCENES:
                with self.subTest((how, when, scene)):
                    self.check(how, when, scene)

    def test_it_sees_the_same_where_the_tracer_came_with_cuInit(self):
        """Without LD_PRELOAD import slots and exports are redirected from cuInit on."""
        for how in ("import", "dlsym"):
            for scene in SCENES:
                with self.subTest((how, scene)):
                    self.check(how, "after", scene, preload=False)

    def test_a_profiler_that_came_first_keeps_cupti(self):
        for how, preload in (("import", False), ("dlsym", True)):
            with self.subTest(how):
                command = [PROFILER, how, "before", "domain"]
                plain = self.run_program(*command, traced=False, preload=False)
                shared = self.run_program(*command, preload=preload)
                self.assertEqual(shared.stdout, plain.stdout)
                self.assertEqual(os.listdir(self.trace), [])  # nothing of it was seen

    def test_it_sees_the_same_in_a_process_that_is_not_traced(self):
        command = [PROFILER, "import", "before", "unsubscribe"]
        plain = self.run_program(*command, traced=False, preload=False)
        self.assertEqual(self.run_program(*command, traced=False).stdout, plain.stdout)


if __name__ == "__main__":
    main()
