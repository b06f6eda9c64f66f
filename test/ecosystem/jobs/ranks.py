"""A rank of a job: rank 1 has a larger batch; in the run that ends in `leak`, rank 3 keeps a block a step."""

import os
import time

import gpu

RANK = int(os.environ["RANK"])
LEAKS = RANK == 3 and os.environ["SLURM_JOB_ID"].endswith("leak")


def weights():
    return [gpu.empty(4 << 20) for _ in range(8)]


def forward(batch):
    return [gpu.empty(batch << 20) for _ in range(6)]


def late():
    return gpu.empty(3 << 20)


model, kept = weights(), []
for step in range(160):
    activations = forward(6 if RANK == 1 else 2)
    loss = gpu.empty(1 << 18)
    if LEAKS:
        kept.append(loss)
    if RANK == 2:
        activations.append(late())
    del activations, loss
    time.sleep(0.004)
