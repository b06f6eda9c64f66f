"""What `npm test` leaves to `npm run test:long`, which sets GPU_MEMTRACE_ROUNDS: proofs of what a shorter test shows as well."""

import os

LONG = "GPU_MEMTRACE_ROUNDS" in os.environ


def in_long(test):
    """A test that the long run has alone; elsewhere the class has none of this name."""
    return test if LONG else None
