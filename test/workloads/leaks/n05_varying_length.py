"""Batches of many sizes."""
import random

import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

random.seed(0)
for step in range(150):
    x = torch.randn(random.randint(16, 2048), 256, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
