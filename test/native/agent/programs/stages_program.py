"""Few steps so far: what is stored in each one has more parts than there are steps, and more layers than steps have a list of their own."""

import torch
import tracing


class Stage:
    def __init__(self, addresses):
        self.parts = {"part %d" % number: torch.Tensor(address) for number, address in enumerate(addresses)}


class Layer:
    def __init__(self):
        self.history = []

    def look(self, address):
        self.history.append(torch.Tensor(address))  # HISTORY


def run(step):
    stored[step] = Stage(range(0xC0000 + 0x10000 * step, 0xC0000 + 0x10000 * step + 12 * 0x1000, 0x1000))  # STORED
    for number, layer in enumerate(layers):
        layer.look(0x900000 + 0x10000 * step + 0x1000 * number)


assert tracing.begin()
stored, layers = {}, [Layer() for _ in range(9)]
for step in range(4):
    run(step)
told = [[hex(0xC0000 + 0x10000 * step + 0x1000 * part), 512, 0, [], step] for step in range(4) for part in range(12)]
told += [[hex(0x900000 + 0x10000 * step + 0x1000 * number), 512, 0, [], step] for step in range(4) for number in range(9)]
assert tracing.ask(1, "holders", addresses=told, budgetMs=10000)
