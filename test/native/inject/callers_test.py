"""Who called the driver: the library that the log names for each allocation."""

import json
import os

from log_reader import *  # noqa: F403
from traced import BUILT, Traced, main


class Callers(Traced):
    def test_the_library_that_called_is_named(self):
        done = self.run_python("callers_program.py", BUILT)
        log = only_log(self.trace)
        self.assertEqual((log.driver_source, log.lost), (GMT_DRIVER_CUPTI, {}))
        names = {number: os.path.basename(path) for number, path in log.libraries.items()}
        taken = [event for event in log.events if event.kind == GMT_DEVICE_ALLOC]
        got = [[event.bytes, names.get(event.detail.caller)] for event in taken]
        got = [[size, "python" if name and name.startswith(("python", "libpython")) else name] for size, name in got]
        self.assertEqual(got, json.loads(done.stdout))
        self.assertTrue(all(path.startswith("/") for path in log.libraries.values()), log.libraries)


if __name__ == "__main__":
    main()
