"""A small training whose gradients are left alive at its end, and a loss of each step with its graph."""

import torch
import truth

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256))
optimizer = torch.optim.AdamW(model.parameters())
losses = []
for step in range(20):
    optimizer.zero_grad()
    x = torch.randn(64, 256)
    loss = (model(x) - x).square().mean()
    loss.backward(retain_graph=True)
    losses.append(loss)
    optimizer.step()
truth.write()
