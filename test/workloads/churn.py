"""Many threads that allocate and free as fast as they can, or as what records has room (--paced); the truth is the allocator's own count.

Blocks are passed between threads, so that half of them are freed by a thread that did not allocate them.
"""

import argparse
import collections
import glob
import os
import struct
import threading
import time

import gpu


RESERVED, LIMIT = 128, 160  # places in a log's header (native/wire/layout.h): chunks in use, chunks that may be in use
SPARE = 24  # chunks


def has_room():
    """Whether this process's log has chunks to spare, or its recorder has yet to come and it is small."""
    for path in glob.glob(os.path.join(os.environ["GPU_MEMTRACE_DIR"], "%d-*.gmtlog" % os.getpid())):
        with open(path, "rb") as log:
            header = log.read(LIMIT + 8)
        (reserved,), (limit,) = struct.unpack_from("<Q", header, RESERVED), struct.unpack_from("<Q", header, LIMIT)
        return reserved + SPARE <= limit if limit else reserved <= SPARE
    return True


class Worker(threading.Thread):
    def __init__(self, index, options, shared):
        super().__init__(name="churn-%d" % index)
        self.sizes = [512 << (index + shift) % 14 for shift in range(14)]
        self.options = options
        self.shared = shared
        self.made = 0

    def run(self):
        gpu.name_thread(self.name)
        gpu.attach_thread()
        for i in range(self.options.pairs):
            while i % 1000 == 0 and self.options.paced and not has_room():
                time.sleep(0.005)
            block = gpu.empty(self.sizes[i % len(self.sizes)])
            self.made += 1
            if i % 2:
                self.shared.append(block)
                if len(self.shared) > 64:
                    block = self.shared.popleft()
            del block


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--pairs", type=int, default=20000, help="allocations of each thread")
    parser.add_argument("--paced", action="store_true", help="wait for room in the log")
    options = parser.parse_args()
    truth = gpu.Truth("churn")
    shared = collections.deque()
    workers = [Worker(i, options, shared) for i in range(options.threads)]
    start = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.monotonic() - start
    for block in shared:
        truth.keep(block)
    truth.report(
        made=sum(worker.made for worker in workers),
        perThread={worker.name: worker.made for worker in workers},
        seconds=round(seconds, 3),
    )


if __name__ == "__main__":
    main()
