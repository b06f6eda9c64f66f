"""Random calls, each of which ends in a tensor; the frames that Python itself has on its line go to the truth."""

import os
import sys

import torch
import truth

sys.path.insert(0, os.environ["GMT_WORKLOADS"])
from call_patterns import Patterns, frames_here  # noqa: E402

WANTED = 3000
kept = []


def leaf(random):
    kept.append((torch.empty(random.randrange(1, 700)), frames_here()))


sys.setrecursionlimit(10_000)
patterns = Patterns(1, leaf)
while len(kept) < WANTED:
    patterns.run(patterns.random.choice((3, 10, 40, 110)))
truth.write(blocks=[[tensor.data_ptr(), [[file, line] for file, _, _, line, _ in frames]] for tensor, frames in kept])
