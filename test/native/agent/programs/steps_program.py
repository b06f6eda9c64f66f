"""Training loops without anything in them. `steps_program.py SHAPE`."""

import ctypes
import gc
import os
import sys
import threading

import tracing

SHAPE = sys.argv[1]
UNKNOWN = [["0xff000", 512, 0]]
if SHAPE != "no torch":
    import torch


def train(*optimizers, steps=5):
    for _ in range(steps):
        for optimizer in optimizers:
            optimizer.step()


class Loop:
    def __init__(self):
        self.others = [Loop.__new__(Loop) for _ in range(6)]
        for each in self.others:
            each.first = self


def fork(work):
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def without_gpu():
    gc.collect()
    train(torch.optim.Optimizer(), steps=2)


def with_gpu():
    assert tracing.begin()
    train(torch.optim.Optimizer(), steps=3)
    tracing.ask(1, "holders", addresses=UNKNOWN)


def in_thread():
    tracing.begin(0)
    tracing.wait(lambda: torch.optim.optimizer._global_hooks)  # the agent's turn is another thread's
    train(torch.optim.Optimizer())


if SHAPE in ("off", "no torch"):
    assert not tracing.begin(1)
    gc.collect()
elif SHAPE == "thread":
    worker = threading.Thread(target=in_thread)
    worker.start()
    worker.join()
else:
    assert tracing.begin()

if SHAPE.startswith("workspaces"):
    library = ctypes.CDLL(os.environ["GMT_TORCH_CUDA"])
    for key in range(20):
        library.add_workspace(ctypes.c_uint64(7 * key % 20), ctypes.c_uint64(0x10000 * (key + 1)), False)
    library.add_workspace(ctypes.c_uint64(1), ctypes.c_uint64(0x900000), True)
    if SHAPE == "workspaces broken":
        library.break_table()
    train(torch.optim.Optimizer())
elif SHAPE == "one":
    train(torch.optim.Optimizer())
elif SHAPE == "own":
    train(torch.optim.Optimizer(), steps=2)
    library = ctypes.PyDLL(os.environ["CUDA_INJECTION64_PATH"], mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    library.gpu_memtrace_step()
    train(torch.optim.Optimizer(), steps=7)
    library.gpu_memtrace_step()
elif SHAPE == "two":
    train(torch.optim.Optimizer(), torch.optim.Optimizer())
elif SHAPE == "replaced":
    train(torch.optim.Optimizer(), steps=3)
    train(torch.optim.Optimizer(), steps=100)
elif SHAPE == "phases":
    for _ in range(20):
        train(torch.optim.Optimizer(), steps=3)
elif SHAPE == "tasks":
    train(*[torch.optim.Optimizer() for _ in range(300)])
elif SHAPE == "critic":
    generator, critic = torch.optim.Optimizer(), torch.optim.Optimizer()
    for _ in range(5):
        generator.step()
        train(critic, steps=5)
elif SHAPE == "collect":
    Loop()
    gc.collect()
elif SHAPE == "off":
    train(torch.optim.Optimizer())
elif SHAPE == "fork":
    train(torch.optim.Optimizer())
    fork(without_gpu)
    fork(with_gpu)
elif SHAPE == "at step":
    optimizer = torch.optim.Optimizer()
    optimizer.step()
    tracing.ask(1, "holders", wait_for_it=False, addresses=UNKNOWN, budgetMs=10000, at="step")
    assert tracing.ask(2, "holders", addresses=UNKNOWN, budgetMs=10000)
    early = tracing.answered(1)
    print(early, tracing.wait(lambda: optimizer.step() or tracing.answered(1)))
elif SHAPE == "requests":
    tracing.ask(1, "dance")
    tracing.ask(2, "holders")
    tracing.ask(3, "holders", addresses=UNKNOWN)
