"""A thread runs a backward pass while the agent looks for a block. Prints how often a gradient was read meanwhile, and afterwards."""

import json
import sys
import threading

import torch
import tracing

reads = []
slot = type(vars(torch.TensorBase)["grad"])
get = slot.__get__


def counting(self, tensor, kind=None):
    if self is vars(torch.TensorBase)["grad"] and tensor is parameter:
        reads.append(tensor)
    return get(self, tensor, kind)


slot.__get__ = counting
parameter = torch.Parameter(0x9100, needs_grad=True)
parameter.grad = torch.Tensor(0x9200)
ready, done = threading.Event(), threading.Event()
engine = {"ready": ready, "done": done}
source = "def run_backward():\n    ready.set()\n    done.wait()\n"
exec(compile(source, "/somewhere/torch/autograd/graph.py", "exec"), engine)


def ask(number):
    before = len(reads)
    assert tracing.ask(number, "holders", addresses=[["0xff000", 512, 0]], budgetMs=10000)
    return len(reads) - before


assert tracing.begin()
other = threading.Thread(target=engine["run_backward"])
other.start()
ready.wait()
meanwhile = ask(1)
done.set()
other.join()
json.dump([meanwhile, ask(2)], sys.stdout)
