"""Cycles, and a collector that was switched off."""
import gc

import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

gc.disable()


class Batch:
    def __init__(self, x):
        self.x = x * 1.0  # SITE
        self.me = self  # HOLDER


for step in range(60):
    x = Batch(torch.randn(256, 256, device="cuda")).x
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
