"""The process ends while daemon threads make probed calls: some with Python's help, some in C without ever taking the GIL."""

import ctypes
import os
import sys
import threading
import time

import record


class Last:
    """Destroyed with the sys module, while the interpreter is finalizing: its call must have no stack."""

    def __del__(self, call=record.with_gil, write=os.write):
        call(None, 1)
        write(1, b"left")


def deeper(depth, call):
    return deeper(depth - 1, call) if depth else call()


def by_calls():
    while True:
        record.without_gil(None, 2)


def in_c():
    ctypes.CDLL(os.environ["GMT_CALLS"]).call_forever(record.without_gil, ctypes.c_size_t(3))


sys.setswitchinterval(1e-5)
for work in (in_c, by_calls if sys.version_info >= (3, 12) else in_c) * 2:
    threading.Thread(target=deeper, args=(100, work), daemon=True).start()
time.sleep(0.05)
sys.kept = Last()
