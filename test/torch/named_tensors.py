"""A small training whose gradients are left alive at its end."""

import torch
import truth

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256))
optimizer = torch.optim.AdamW(model.parameters())
for step in range(20):
    optimizer.zero_grad()
    x = torch.randn(64, 256)
    (model(x) - x).square().mean().backward()
    optimizer.step()
truth.write()
