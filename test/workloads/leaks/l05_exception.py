"""Exceptions kept: their tracebacks hold the frames."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

failures = []


def fail(x):
    scratch = x @ x  # SITE
    raise ValueError(scratch.shape)


for step in range(60):
    x = torch.randn(512, 512, device="cuda")
    try:
        fail(x)
    except ValueError as error:
        failures.append(error)  # HOLDER
    x = torch.randn(256, 256, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
