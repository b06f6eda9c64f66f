"""Many threads that allocate and free as fast as they can, or as they are told (--per-second); the truth is the allocator's own count.

Blocks are passed between threads, so that half of them are freed by a thread that did not allocate them.
"""

import argparse
import collections
import threading
import time

import gpu


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
        begin = time.monotonic()
        for i in range(self.options.pairs):
            if i % 1000 == 0 and self.options.per_second:
                time.sleep(max(0, begin + i / self.options.per_second - time.monotonic()))
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
    parser.add_argument("--per-second", type=int, help="allocations of each thread a second, at most")
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
