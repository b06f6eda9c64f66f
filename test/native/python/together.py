"""A thread that asks while another one looks for the interpreter: it is told that it is there."""

import probe

answer = probe.without_gil.probe_discover_together()
assert answer == probe.READY, "the thread was told %d" % answer
print("together.py: 2 threads")
