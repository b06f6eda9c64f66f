"""The program stands still while it is looked at."""

import contextlib
import gc
import sys

INTERVAL = 0.05  # seconds


class Quiet:
    """No collection begins, and other threads of Python get their turn seldom. (Not never: a thread that waits does not see that the
    interval is short again, until it has the interpreter's lock.)"""

    def __enter__(self):
        self.collects, self.interval = gc.isenabled(), sys.getswitchinterval()
        gc.disable()
        sys.setswitchinterval(max(self.interval, INTERVAL))

    def __exit__(self, *error):
        sys.setswitchinterval(self.interval)
        if self.collects:
            gc.enable()


@contextlib.contextmanager
def all_objects():
    """What the collector tracks, the oldest first (about: by generation); behind it nothing any more, since that names who looks too."""
    found = natives["living"](gc.get_objects) or []
    try:
        yield found
    finally:
        found.clear()
