"""Keeps a record of each step: a loss whose graph has been used, a number without one, and, where it is asked to, an output."""
import sys
import torch

torch.manual_seed(7)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
history, kept = [], []
for step in range(64):
    x = torch.randn(64, 64, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        acc = (out.argmax(1) == x.argmax(1)).float().mean()
    if "tuple" in sys.argv:
        kept.append((loss, out))
    else:
        history.append({"loss": loss, "acc": acc})
print(len(kept) or f"{sum(each['loss'].item() for each in history):.4f}")
