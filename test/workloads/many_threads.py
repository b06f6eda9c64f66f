"""Threads that come and go: `many_threads.py FILE [--in-turn N] [--at-once N]` writes tid, name and address of what each kept into FILE.

Each thread has a name of its own, keeps one block and frees one of the thread before it.
"""

import argparse
import ctypes
import threading

import gpu

PR_SET_NAME = 15
parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--in-turn", type=int, default=70000)
parser.add_argument("--at-once", type=int, default=1000)
options = parser.parse_args()
prctl = ctypes.CDLL(None).prctl
kept, passed_on = [], [None]


def work(number, wait=None):
    prctl(PR_SET_NAME, b"t%d" % number)
    kept.append((threading.get_native_id(), number, gpu.empty(512)))
    if wait is None:
        passed_on[0] = gpu.empty(1024)
    else:
        wait()  # all of them write at once


def run(number, *more):
    thread = threading.Thread(target=work, args=(number, *more))
    thread.start()
    return thread


for number in range(options.in_turn):
    run(number).join()
barrier = threading.Barrier(options.at_once)
for thread in [run(options.in_turn + number, barrier.wait) for number in range(options.at_once)]:
    thread.join()
gpu.told = True
with open(options.file, "w") as file:
    file.writelines("t%d:%d 0x%x\n" % (number, tid, block.data_ptr()) for tid, number, block in kept)
