"""Small trainings on the allocator of gpu.py, each with something that it keeps: `kept.py CASE [--steps N]`.

A line that ends in `# LEAK case` allocates what that case keeps on and on; cases that no line names keep nothing for good.
"""

import argparse
import collections
import ctypes
import functools
import gc
import queue
import random
import threading

import gpu

KIB = 1024


LAYERS = 12


class Training:
    """Weights, and in each step a batch, activations, gradients: what every training has."""

    def __init__(self):
        self.weights = [gpu.empty(2 * gpu.MIB) for _ in range(LAYERS)]
        self.gradients = []
        self.batch = None

    def step(self, rows=32):
        self.batch = gpu.empty(rows * KIB)
        activations = [[gpu.empty(rows * 16 * KIB), gpu.empty(rows * 8 * KIB)] for _ in self.weights]
        self.gradients = [gpu.empty(2 * gpu.MIB) for _ in self.weights]
        return activations[-1]


def graph(step, kept=[]):
    hidden = gpu.empty(48 * KIB)
    output = gpu.empty(256 * KIB)  # LEAK graph
    loss = gpu.empty(512)
    kept.append((hidden, output, loss))


def outputs(step, kept=[]):
    kept.append(gpu.empty(64 * KIB))  # LEAK outputs


def late(step, kept=[]):
    output = gpu.empty(64 * KIB)  # LEAK late
    if step >= 60:
        kept.append(output)


def every_fifth(step, kept={}):
    if step % 5 == 0:
        kept[step] = [gpu.empty(32 * KIB) for _ in range(4)]  # LEAK every_fifth


def small(step, kept=[]):
    noise = [gpu.empty(random.randint(1, 32) * gpu.MIB) for _ in range(3)]
    kept.append(gpu.empty(len(noise) * KIB))  # LEAK small


def concatenate(step, kept={}):
    kept["whole"] = gpu.empty((step + 1) * 128 * KIB)  # LEAK concatenate


def concatenate_every_third(step, kept={}):
    if step % 3 == 2:
        for part in range(4):
            kept["whole"] = gpu.empty((step * 4 + part + 1) * 32 * KIB)  # LEAK concatenate_every_third


def exception(step, kept=[]):
    def fail():
        scratch = gpu.empty(128 * KIB)  # LEAK exception
        raise ValueError(int(scratch))

    try:
        fail()
    except ValueError as error:
        kept.append(error)


class Ring:
    def __init__(self):
        self.features = gpu.empty(64 * KIB)  # LEAK cycle
        self.me = self


def cycle(step):
    gc.disable()
    Ring()


def collected(step):
    gc.disable()
    Ring()
    if step % 10 == 9:
        gc.collect()


def hook(step, hooks=[]):
    output = gpu.empty(96 * KIB)  # LEAK hook
    hooks.append(lambda: output)


def thread(step, todo=queue.Queue(), kept=[]):
    def work():
        while True:
            todo.get()
            kept.append(gpu.empty(64 * KIB))  # LEAK thread
            todo.task_done()

    if step == 0:
        threading.Thread(target=work, name="scorer", daemon=True).start()
    todo.put(step)
    todo.join()


def pinned(step, driver=[]):
    if not driver:
        driver.append(gpu.load_driver())
    driver[0].cuMemHostAlloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(256 * KIB), 0)  # LEAK pinned


def lru(step):
    @functools.lru_cache(maxsize=24)
    def mask(length):
        return gpu.empty(length * KIB)

    lru.mask = getattr(lru, "mask", mask)
    lru.mask(16 + step * 11 % 97)


def replay(step, kept=collections.deque(maxlen=30)):
    kept.append(gpu.empty(64 * KIB))


def filled(step, kept=[]):
    if step < 40:
        kept.append(gpu.empty(64 * KIB))


def epochs(step, kept=[]):
    kept.append(gpu.empty(64 * KIB))
    if step % 25 == 24:
        kept.clear()


def shapes(step, kept={}):
    shape = random.randrange(12)
    if shape not in kept:
        kept[shape] = gpu.empty((shape + 1) * 16 * KIB)


def one_shot(step, kept=[]):
    if step == 40:
        kept.append(gpu.empty(64 * gpu.MIB))


def evaluation(step):
    if step % 10 == 9:
        [gpu.empty(512 * KIB) for _ in range(8)]


def best(step, kept={}):
    if random.random() < 0.1:
        kept["best"] = [gpu.empty(2 * gpu.MIB) for _ in range(3)]


def warm_up(step, kept=[]):
    if step < 4:
        kept.append(gpu.empty(8 * gpu.MIB))


def prefetch(step, ready=queue.Queue(maxsize=6)):
    def load():
        while True:
            ready.put(gpu.empty(64 * KIB))

    if step == 0:
        threading.Thread(target=load, name="loader", daemon=True).start()
    ready.get()


def varying(step):
    pass


LEAKS = [graph, outputs, late, every_fifth, small, concatenate, concatenate_every_third, exception, cycle, hook, thread, pinned]
CLEAN = [collected, lru, replay, filled, epochs, shapes, one_shot, evaluation, best, warm_up, prefetch, varying]


def main():
    cases = {case.__name__: case for case in LEAKS + CLEAN}
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=sorted(cases))
    parser.add_argument("--steps", type=int, default=120)
    options = parser.parse_args()
    random.seed(1)
    training = Training()
    for step in range(options.steps):
        training.step(16 + 8 * (step % 7))
        cases[options.case](step)
    print("ended")


if __name__ == "__main__":
    main()
