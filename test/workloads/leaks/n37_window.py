"""Values are collected over 50 steps in a list that is made anew"""
import random
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
values = []
for step in range(230):
    x = torch.randn(64, 128, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    values.append(out.detach()[:random.randint(1, 32)].clone())
    if len(values) >= 50:
        values = []
