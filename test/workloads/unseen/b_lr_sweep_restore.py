import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(6)
device = "cuda"
POINTS, STEPS = 28, 25


class Sweep:
    def __init__(self, model, make_opt):
        self.model, self.make_opt = model, make_opt
        self.start = copy.deepcopy(model.state_dict())
        self.points = []
        self.opt = None

    def measure(self, lr, batches):
        self.model.load_state_dict(self.start)
        self.opt = self.make_opt(self.model.parameters(), lr)
        losses = []
        for x, y in batches:
            loss = F.cross_entropy(self.model(x), y, label_smoothing=0.05)
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            losses.append(loss.detach())
        tail = torch.stack(losses[-8:]).mean().item()
        self.points.append((tail, lr))

    def best(self):
        return min(self.points)


x = torch.randn(2000, 3, 12, 12, device=device)
y = x.mean((2, 3)).argmax(1)
model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, stride=2, padding=1),
    nn.ReLU(), nn.Flatten(), nn.Linear(32 * 36, 256), nn.ReLU(), nn.Linear(256, 3)).to(device)

sweep = Sweep(model, lambda p, lr: torch.optim.AdamW(p, lr=lr))
for i in range(POINTS):
    lr = 1e-5 * 10 ** (3.5 * i / (POINTS - 1))
    picks = [torch.randint(0, 2000, (48,), device=device) for _ in range(STEPS)]
    sweep.measure(lr, [(x[p], y[p]) for p in picks])
loss, lr = sweep.best()
print(f"best lr {lr:.2e} loss {loss:.4f}")
