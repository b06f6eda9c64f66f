"""The process ends while daemon threads walk: some through Python calls, some in C without ever taking the GIL."""

import atexit
import os
import sys
import threading
import time

import probe

assert probe.without_gil.probe_discover() == probe.READY
sys.setswitchinterval(1e-5)


class Last:
    """Destroyed with the sys module, when the interpreter is finalizing: there must be no stack any more."""

    def __del__(self, capture=probe.without_gil.probe_capture, leave=os._exit, write=os.write):
        if capture() != 0:
            leave(9)
        write(1, b"left")


@atexit.register
def still_walks():
    if probe.without_gil.probe_capture() == 0:
        os._exit(8)


def deeper(depth, call):
    return deeper(depth - 1, call) if depth else call()


def by_calls():
    while True:
        probe.without_gil.probe_capture()


def in_c():
    probe.without_gil.probe_walk_forever(2000)


# Before 3.12 the interpreter itself may crash when a daemon thread takes the GIL while the process ends (take_gil reads
# the freed thread state), so only threads that never do can show what the walk does.
last = by_calls if sys.version_info >= (3, 12) else in_c
for work in (in_c, last, in_c, last):
    threading.Thread(target=deeper, args=(200, work), daemon=True).start()
time.sleep(0.02)
sys.kept = Last()
