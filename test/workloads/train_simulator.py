"""Experiment "malloc/free actions": one process that trains, leaks now and then, and frees some of it again.

A second thread named pt_autograd_0 allocates the gradients, as PyTorch's backward does.
"""

import argparse
import random
import threading
import time

import gpu


class Backward:
    """A thread that allocates gradients on request."""

    def __init__(self, truth):
        self.truth = truth
        self.wanted = threading.Semaphore(0)
        self.done = threading.Semaphore(0)
        self.stopping = False
        self.gradients = []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        gpu.name_thread("pt_autograd_0")
        gpu.attach_thread()
        while True:
            self.wanted.acquire()
            if self.stopping:
                return
            for gradient in self.gradients:
                self.truth.drop(gradient)
            self.gradients.clear()
            gradient = gpu.empty(1024)
            self.gradients.append(self.truth.keep(gradient))
            gradient = gpu.empty(8 * gpu.MIB)
            self.gradients.append(self.truth.keep(gradient))
            del gradient
            self.done.release()

    def __call__(self):
        self.wanted.release()
        self.done.acquire()

    def stop(self):
        self.stopping = True
        self.wanted.release()
        self.thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--sleep-ms", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    gpu.stacks_wanted = True
    truth = gpu.Truth("train_simulator")

    weights = truth.keep(gpu.empty(100 * 4))
    bias = truth.keep(gpu.empty(4))
    backward = Backward(truth)
    leaked = []
    for epoch in range(options.epochs):
        inputs = truth.keep(gpu.empty(128 * 1024))
        outputs = truth.keep(gpu.empty(1024))
        backward()
        if epoch % 10 == 0:
            tensor = gpu.empty(2048 * 2048 * 4)  # leaked: 16 MiB that stay in the list
            leaked.append(truth.keep(tensor))
            del tensor
            print("epoch %d: leaked 16 MiB, %d leaked blocks alive" % (epoch, len(leaked)), flush=True)
        if leaked and random.random() < 0.05:
            for _ in range(min(len(leaked), random.randint(1, 3))):
                truth.drop(leaked[0])
                del leaked[0]
            gpu.empty_cache()
            print("epoch %d: freed some, %d leaked blocks alive" % (epoch, len(leaked)), flush=True)
        truth.drop(outputs)
        truth.drop(inputs)
        del inputs, outputs
        time.sleep(options.sleep_ms / 1000)
    backward.stop()
    truth.report(leakedBlocks=len(leaked))
    del weights, bias


if __name__ == "__main__":
    main()
