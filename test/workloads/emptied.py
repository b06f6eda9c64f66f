"""A training in a function, which keeps a tensor of each step: all of it is freed when the function returns. On the stand-in for PyTorch.

emptied.py [keep|kill|slow]: `keep` leaves 20 of them alive, `kill` ends in the function, `slow` goes on until it was asked who holds them.
"""

import os
import sys
import time

import torch
import tracing

STEPS = 60
how = sys.argv[1] if len(sys.argv) > 1 else ""


class Kept(torch.Tensor):
    def __init__(self, number):
        self.at = 0x100000 + 0x1000 * number
        super().__init__(self.at)
        tracing.report(self.at, 512)  # ALLOCATE

    def __del__(self):
        tracing.report(self.at, -512)


def main():
    global left
    optimizer = torch.optim.Optimizer()
    kept, step = [], 0
    while step < STEPS or how == "slow" and not tracing.answered(1):
        kept.append(Kept(step))  # HOLD
        optimizer.step()
        step += 1
        if how == "slow":
            time.sleep(0.02)
    if how == "keep":
        left = kept[:20]
    if how == "kill":
        os.kill(os.getpid(), 9)


assert tracing.begin()
tracing.report(0x1000, -512)
main()
