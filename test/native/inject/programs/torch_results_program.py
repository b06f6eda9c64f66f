"""Some training steps on the CPU, with views, in-place operations, threads and a graph that is run twice. Prints every result bit
for bit, and the numbers of the nodes that it can see."""

import ctypes
import json
import sys
import threading

import torch

REPORT = ("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE")


def begin():
    """An allocation as a GPU's allocator reports it: the trace begins with it."""
    for library in (None, torch.__file__.replace("__init__.py", "lib/libc10.so")):
        program = ctypes.CDLL(library)  # a preloaded library's own come first
        for name in REPORT:
            if hasattr(program, name):
                function = getattr(program, name)
                function.argtypes = [ctypes.c_uint64, ctypes.c_int64] + [ctypes.c_uint64] * 3
                function(0x1000, 512, 512, 2 << 20, 1)
                return


def bits(tensor):
    return tensor.detach().double().flatten().tolist()


def numbers(function, depth=3):
    """Sequence numbers of a graph's nodes from its end on."""
    found = [function._sequence_nr()] if function is not None and hasattr(function, "_sequence_nr") else []
    for follower, _ in function.next_functions if depth else ():
        if follower is not None:
            found += numbers(follower, depth - 1)
    return found


def train(seed):
    generator = torch.Generator().manual_seed(seed)
    weights = [torch.randn(16, 16, generator=generator).requires_grad_() for _ in range(3)]
    told, seen = [], []
    for _ in range(5):
        x = torch.randn(8, 16, generator=generator)
        for weight in weights:
            x = (x @ weight).view(4, 2, 16).reshape(8, 16)
            x = x.clone().mul_(0.5).relu_()
        loss = x.square().mean()
        seen += numbers(loss.grad_fn)
        loss.backward(retain_graph=True)
        loss.backward()
        told.append(bits(loss))
        with torch.no_grad():
            for weight in weights:
                told.append(bits(weight.grad)[:8])
                weight -= 0.1 * weight.grad
                weight.grad = None
    return told, seen


def main():
    torch.set_num_threads(1)
    begin()
    results = [None] * 3
    results[0] = train(1)

    def run(place):
        results[place] = train(place)

    threads = [threading.Thread(target=run, args=(place,)) for place in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"results": [told for told, _ in results], "numbers": [seen for _, seen in results]}))
    sys.stdout.flush()


main()
