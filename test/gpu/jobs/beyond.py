"""Arrays of JAX, CuPy, Numba or RMM (GMT_LIBRARY) that pile up, or do not, in one of the shapes (GMT_SHAPE). A line that ends in `# MAKES name`
makes the arrays, one in `# KEEPS name` keeps them. Prints a sum over all rounds; `speed` prints how long a round without a pause takes."""
import collections
import os
import sys
import time

import numpy

library, shape = os.environ["GMT_LIBRARY"], os.environ["GMT_SHAPE"]
ROUNDS, PAUSE = 200, 0.015

if library == "jax":
    import jax
    import jax.numpy as jnp

    @jax.jit
    def layer(weights, x):
        return jnp.tanh(x * weights)

    weights = jnp.ones((512, 512)) / 512

    def work(number):
        x = jnp.full((512, 512), number / 100)
        return layer(weights, x)  # MAKES jax

    def total(array):
        array.sum().block_until_ready()  # XLA may add up in another order in each run
        return float(numpy.asarray(array).sum())

elif library == "cupy":
    import cupy

    def work(number):
        scratch = cupy.full((2048, 512), number / 100, dtype=cupy.float32)
        scratch += cupy.tanh(scratch)
        return scratch[:512] * 0.5  # MAKES cupy

    def total(array):
        return float(array.sum())

elif library == "rmm":
    import rmm

    def work(number):
        return rmm.DeviceBuffer.to_device(numpy.full(2**20, number % 100, dtype=numpy.uint8))  # MAKES rmm

    def total(buffer):
        return float(numpy.frombuffer(buffer.copy_to_host(), dtype=numpy.uint8).sum())

else:
    from numba import cuda

    def work(number):
        return cuda.to_device(numpy.full((512, 512), number / 100, dtype=numpy.float32))  # MAKES numba

    def total(array):
        return float(array.copy_to_host().sum())


class Trainer:
    def __init__(self):
        self.history = []

    def note(self, out):
        self.history.append(out)  # KEEPS attribute


kept, seen, later, cache = [], {}, [], {}
recent, trainer = collections.deque(maxlen=8), Trainer()


def keep(number, out):
    if shape == "list":
        kept.append(out)  # KEEPS list
    elif shape == "dict":
        seen[number] = out  # KEEPS dict
    elif shape == "closure":
        later.append(lambda: total(out))  # KEEPS closure
    elif shape == "attribute":
        trainer.note(out)
    elif shape == "window":
        recent.append(out)


def train():
    summed = 0.0
    for number in range(ROUNDS):
        if shape == "cache":
            if number % 24 not in cache:
                cache[number % 24] = work(number % 24)
            out = cache[number % 24]
        else:
            out = work(number)
        summed += total(out)
        keep(number, out)
        time.sleep(PAUSE)
    return summed


def agent_seconds():
    """What the tracer's own thread took of the processor, with all of its looks."""
    for task in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % task) as name, open("/proc/self/task/%s/schedstat" % task) as spent:
            if name.read().strip() == "gpu-memtrace":
                return int(spent.read().split()[0]) / 1e9
    return 0.0


def speed():
    """Microseconds of a round, the mean and the middle one of blocks of 50, and the tracer's thread's share of the time in percent; with
    100 arrays alive and a window of the newest."""
    alive = [work(number) for number in range(100)]
    for number in range(300):
        recent.append(work(number))
    total(recent[-1])
    time.sleep(1)
    begun, spent, blocks = time.perf_counter(), agent_seconds(), []
    while time.perf_counter() < begun + float(os.environ.get("GMT_SECONDS", 4)):
        block = time.perf_counter()
        for number in range(50):
            recent.append(work(number))
        total(recent[-1])
        blocks.append((time.perf_counter() - block) / 50 * 1e6)
    share = 100 * (agent_seconds() - spent) / (time.perf_counter() - begun)
    return [round(each, 2) for each in (sum(blocks) / len(blocks), sorted(blocks)[len(blocks) // 2], share)] + [len(alive)]


print(repr(speed() if shape == "speed" else train()))
sys.stdout.flush()
