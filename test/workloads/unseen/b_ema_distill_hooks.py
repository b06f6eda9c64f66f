import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(51)
device = "cuda"
STEPS, BATCH = 150, 128


class Tap:
    """Forward output of a layer, by name."""

    def __init__(self, model, names):
        self.values = {}
        for name, module in model.named_modules():
            if name in names:
                module.register_forward_hook(self.make(name))

    def make(self, name):
        def hook(module, args, out):
            self.values[name] = out
        return hook


class EMA:
    def __init__(self, model, decay=0.98):
        self.decay = decay
        self.model = copy.deepcopy(model).eval()
        self.updates = 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        d = min(self.decay, (1 + self.updates) / (10 + self.updates))
        shadow = dict(self.model.named_parameters())
        for name, p in model.named_parameters():
            shadow[name].copy_(d * shadow[name] + (1 - d) * p)


def net():
    return nn.Sequential(nn.Linear(80, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                         nn.Linear(512, 12)).to(device)


student = net()
ema = EMA(student)
tap_s, tap_t = Tap(student, {"0", "2"}), Tap(ema.model, {"0", "2"})
opt = torch.optim.AdamW(student.parameters(), lr=1e-3)
x_all = torch.randn(4000, 80, device=device)
y_all = (x_all @ torch.randn(80, 12, device=device)).argmax(1)
log = []
for step in range(STEPS):
    for _ in range(3):
        idx = torch.randint(0, 4000, (BATCH,), device=device)
        x = x_all[idx]
        with torch.no_grad():
            ema.model(x)
        logits = student(x + 0.05 * torch.randn_like(x))
        loss = F.cross_entropy(logits, y_all[idx])
        for name in tap_s.values:
            loss = loss + 0.1 * F.mse_loss(tap_s.values[name], tap_t.values[name])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(student)
    log.append(loss.item())
print(f"loss {sum(log[-10:]) / 10:.4f} after {ema.updates} updates")
