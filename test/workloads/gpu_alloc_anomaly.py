"""Experiment "anomaly allocation": threads in step, one of which once allocates far more than the others.

Each thread holds its last three blocks; the anomalous one stays.
"""

import argparse
import threading
import time

import gpu


class Worker(threading.Thread):
    def __init__(self, index, options, truth, barrier):
        super().__init__(name="T%d" % index)
        self.index = index
        self.options = options
        self.truth = truth
        self.barrier = barrier
        self.held = []
        self.anomaly = None

    def run(self):
        gpu.attach_thread()
        for iteration in range(self.options.iterations):
            self.barrier.wait()
            if (self.index, iteration) == (self.options.anomaly_thread, self.options.anomaly_iter):
                self.allocate_anomaly(iteration)
            else:
                self.allocate_normal()
            time.sleep(self.options.sleep_ms / 1000)

    def allocate_anomaly(self, iteration):
        self.anomaly = gpu.empty(self.options.anomaly_mb * gpu.MIB)  # the anomaly
        self.truth.keep(self.anomaly)
        print("[T%d iter %d (ANOMALY %.1f MB)]" % (self.index, iteration, self.options.anomaly_mb), flush=True)

    def allocate_normal(self):
        tensor = gpu.empty(self.options.normal_mb * gpu.MIB)
        self.held.append(self.truth.keep(tensor))
        if len(self.held) > self.options.hold_refs:
            self.truth.drop(self.held[0])
            del self.held[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--normal-mb", type=int, default=10)
    parser.add_argument("--anomaly-mb", type=int, default=2096)
    parser.add_argument("--anomaly-thread", type=int, default=0)
    parser.add_argument("--anomaly-iter", type=int, default=5)
    parser.add_argument("--hold-refs", type=int, default=3)
    parser.add_argument("--sleep-ms", type=float, default=100)
    options = parser.parse_args()
    gpu.stacks_wanted = True
    truth = gpu.Truth("gpu_alloc_anomaly")
    barrier = threading.Barrier(options.threads)
    workers = [Worker(i, options, truth, barrier) for i in range(options.threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    anomalous = [worker for worker in workers if worker.anomaly is not None]
    anomaly = {"tid": anomalous[0].native_id, "bytes": gpu.rounded_bytes(anomalous[0].anomaly)} if anomalous else None
    truth.report(anomaly=anomaly)


if __name__ == "__main__":
    main()
