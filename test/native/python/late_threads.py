"""Threads that were blocked in C code before the walk was set up, what is no Python thread at all, and a fork."""

import os
import threading

import probe

assert probe.without_gil.probe_hash() == 0, "a stack before discover"
lock = threading.Lock()
lock.acquire()
wrong = []


def blocked(depth):
    if depth:
        return blocked(depth - 1)
    with lock:
        return probe.check()


def run():
    try:
        blocked(7)
    except BaseException as error:
        wrong.append(error)


threads = [threading.Thread(target=run) for _ in range(4)]
for thread in threads:
    thread.start()
# A native thread asks first, and has no state: the key of the thread states is not proved by that.
assert probe.without_gil.probe_discover_on_thread() == probe.READY
assert probe.without_gil.probe_capture_on_thread() == 0, "a stack on a thread without Python"
lock.release()
for thread in threads:
    thread.join()
assert probe.without_gil.probe_capture_on_thread() == 0, "a stack on a thread without Python"
assert not wrong, wrong

# A forked child makes a new key for its thread states.
child = os.fork()
if child == 0:
    try:
        blocked(3)
        probe.without_gil.probe_capture_on_thread() == 0 or os._exit(2)
        os._exit(0)
    finally:
        os._exit(1)
assert os.waitpid(child, 0)[1] == 0, "stacks in a forked child"
print("late_threads.py: %d checks" % probe.checks)
