"""Threads that allocate and end, or stay: `short_threads.py --threads N --pairs N [--at-once N] [--stay]`.

Each thread allocates and frees so many blocks; so many are there at once. With `--stay` these are a pool, whose threads work in
turn and wait in between: THREADS is the number of their tasks then. Where a recorder keeps the trace within a budget, the program
makes no more events than that has room for: what is lost then was never given back.
"""

import argparse
import glob
import mmap
import os
import struct
import threading
import time

import gpu

CHUNKS_RESERVED, CHUNK_LIMIT = 128, 160  # gmt_file_header (native/wire/layout.h)
ENOUGH = 4  # chunks

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=5000)
parser.add_argument("--pairs", type=int, default=100)
parser.add_argument("--at-once", type=int, default=1)
parser.add_argument("--stay", action="store_true")
parser.add_argument("--waits", action="store_true", help="for room in the budget")
options = parser.parse_args()


log = []


def wait_for_room():
    """Not where none came for half a minute."""
    if not log:
        gpu.empty(512)
        for path in glob.glob(os.path.join(os.environ.get("GPU_MEMTRACE_DIR", ""), "%d-*.gmtlog" % os.getpid())):
            with open(path, "rb") as file:
                log.append(mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ))
    for _ in range(3000 if log else 0):
        reserved, limit = (struct.unpack_from("<Q", log[0], at)[0] for at in (CHUNKS_RESERVED, CHUNK_LIMIT))
        if limit >= reserved + ENOUGH:
            return
        time.sleep(0.01)
    options.waits = False


def work():
    for number in range(options.pairs):
        if options.waits and number % 100 == 0:
            wait_for_room()
        gpu.empty(512)


def stay(turns, own, next_one, left):
    for _ in range(left):
        turns[own].acquire()
        work()
        turns[next_one].release()


def run_all(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if options.stay:
    turns = [threading.Semaphore(int(at == 0)) for at in range(options.at_once)]
    each = options.threads // options.at_once
    places = range(options.at_once)
    run_all([threading.Thread(target=stay, args=(turns, at, (at + 1) % options.at_once, each)) for at in places])
else:
    for _ in range(options.threads // options.at_once):
        run_all([threading.Thread(target=work) for _ in range(options.at_once)])
print(options.threads * options.pairs)
