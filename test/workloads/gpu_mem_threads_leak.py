"""Experiment "multi-threading": threads that allocate and free at random, keeping what they hold under a cap."""

import argparse
import random
import threading
import time

import gpu


class Worker(threading.Thread):
    def __init__(self, index, options, truth):
        super().__init__(name="worker-%d" % index)
        self.random = random.Random(options.seed + index)
        self.options = options
        self.truth = truth
        self.held = []

    def run(self):
        gpu.attach_thread()
        deadline = time.monotonic() + self.options.duration
        while time.monotonic() < deadline:
            if self.held and self.random.random() >= self.options.alloc_prob:
                self.free_one()
            else:
                self.allocate_one()
            time.sleep(self.random.uniform(0, 2 * self.options.sleep_ms / 1000))

    def allocate_one(self):
        size = self.random.randint(1, self.options.max_tensor_mb) * gpu.MIB
        cap = self.options.memory_cap_mb * gpu.MIB // self.options.threads
        if sum(gpu.rounded_bytes(tensor) for tensor in self.held) + size > cap:
            return
        tensor = gpu.empty(size)
        self.held.append(self.truth.keep(tensor))

    def free_one(self):
        tensor = self.held.pop(self.random.randrange(len(self.held)))
        self.truth.drop(tensor)
        del tensor


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=5)
    parser.add_argument("--duration", type=float, default=3)
    parser.add_argument("--max-tensor-mb", type=int, default=10)
    parser.add_argument("--alloc-prob", type=float, default=0.65)
    parser.add_argument("--memory-cap-mb", type=int, default=4096)
    parser.add_argument("--sleep-ms", type=float, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    gpu.stacks_wanted = True
    truth = gpu.Truth("gpu_mem_threads_leak")
    workers = [Worker(i, options, truth) for i in range(options.threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    truth.report()


if __name__ == "__main__":
    main()
