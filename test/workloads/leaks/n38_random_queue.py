"""A queue whose length goes up and down by chance"""
import random
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
waiting = []
random.seed(11)
for step in range(250):
    for _ in range(random.choice([0, 1, 2])):
        waiting.append(torch.randn(64, 128, device="cuda"))
    if waiting:
        waiting.pop(0)
    x = torch.randn(64, 128, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
