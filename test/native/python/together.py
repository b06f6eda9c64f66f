"""Threads that look for the interpreter at the same moment: each is told that it is there."""

import probe

THREADS = 8
told = probe.without_gil.probe_discover_together(THREADS)
assert told == THREADS, "%d of %d threads were told" % (told, THREADS)
print("together.py: %d threads" % told)
