from collections import deque

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(30)
device = "cuda"
UPDATES, MICRO, BATCH = 80, 6, 256


class Callback:
    def on_micro(self, step, logits, loss): ...
    def on_update(self, step, model): ...


class RecentLogits(Callback):
    def __init__(self, window=48):
        self.window = deque(maxlen=window)

    def on_micro(self, step, logits, loss):
        self.window.append(logits.detach())


class GradNorms(Callback):
    def __init__(self, total):
        self.norms = torch.zeros(total, device=device)

    def on_update(self, step, model):
        parts = [p.grad.norm() for p in model.parameters()]
        self.norms[step] = torch.stack(parts).norm()


class LossLog(Callback):
    def __init__(self):
        self.micro, self.lines = [], []

    def on_micro(self, step, logits, loss):
        self.micro.append(loss)

    def on_update(self, step, model):
        self.lines.append(torch.stack(self.micro).mean().item())
        self.micro = []


x = torch.randn(6000, 48, device=device)
y = torch.randint(0, 1000, (6000,), device=device)
model = nn.Sequential(nn.Linear(48, 256), nn.GELU(), nn.Linear(256, 1000)).to(device)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
callbacks = [RecentLogits(), GradNorms(UPDATES), LossLog()]

for update in range(UPDATES):
    for micro in range(MICRO):
        idx = torch.randint(0, 6000, (BATCH,), device=device)
        logits = model(x[idx])
        loss = F.cross_entropy(logits, y[idx])
        (loss / MICRO).backward()
        for cb in callbacks:
            cb.on_micro(update * MICRO + micro, logits, loss)
    for cb in callbacks:
        cb.on_update(update, model)
    opt.step()
    opt.zero_grad(set_to_none=True)
entropy = torch.distributions.Categorical(logits=torch.cat(list(callbacks[0].window))).entropy().mean()
print(f"loss {callbacks[2].lines[-1]:.4f} norm {callbacks[1].norms.mean().item():.4f} H {entropy.item():.3f}")
