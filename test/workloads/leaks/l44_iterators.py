"""Iterators that are not exhausted are kept."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
iterators = []


def batches():
    while True:
        block = torch.randn(4, 64, 128, device="cuda")  # SITE
        for part in block:
            yield part


for step in range(70):
    iterators.append(batches())  # HOLDER
    next(iterators[-1])
    x = torch.randn(64, 128, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
