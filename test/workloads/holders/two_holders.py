"""Each step's output lies in a meter and in a history, each step's loss in two lists. Then waits to be told to end, where it is asked to."""
import os
import sys
import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


class Meter:
    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value)


meter = Meter()
history = {"outputs": []}
curve, losses = [], []
for step in range(64):
    x = torch.randn(64, 64, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    meter.update(out.detach())
    history["outputs"].append(out.detach())
    value = loss.detach()
    curve.append(value)
    losses.append(value)
if len(sys.argv) > 1:
    print("trained", os.getpid(), flush=True)
    sys.stdin.read()
