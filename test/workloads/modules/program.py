"""Allocates in the calls of modules whose frames are the very same, one inside the other, and outside them."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(HERE, "torch/nn/modules")]
import gpu  # noqa: E402
from module import Module  # noqa: E402


class Layer(Module):
    def forward(self, count):
        return [gpu.empty(512) for _ in range(count)]


First = type("First", (Layer,), {})
Second = type("Second", (Layer,), {})


class Outer(Module):
    def forward(self, layers):
        kept = [gpu.empty(2048)]
        for count, layer in enumerate(layers, 1):
            kept += layer(count)
        return kept


gpu.told = True
kept = [gpu.empty(512)]
layers = [First(), Second(), Second()]
kept += Outer()(layers)
kept += Outer()(layers)
