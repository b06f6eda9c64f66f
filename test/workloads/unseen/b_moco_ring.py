import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(42)
device = "cuda"
STEPS, BATCH, DIM, QUEUE = 250, 512, 128, 16384


class MoCo(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, DIM))
        self.slow = copy.deepcopy(self.enc).requires_grad_(False)
        self.register_buffer("queue", torch.zeros(0, DIM))

    @torch.no_grad()
    def _push(self, keys):
        self.queue = torch.cat([self.queue, keys])[-QUEUE:].clone()

    @torch.no_grad()
    def _drift(self, m=0.995):
        for p, s in zip(self.enc.parameters(), self.slow.parameters()):
            s.lerp_(p, 1 - m)

    def forward(self, a, b):
        q = F.normalize(self.enc(a), dim=1)
        with torch.no_grad():
            self._drift()
            k = F.normalize(self.slow(b), dim=1)
        pos = (q * k).sum(1, keepdim=True)
        bank = self.queue
        if len(bank) > 1024:
            bank = bank[torch.randint(0, len(bank), (1024,), device=device)]
        logits = torch.cat([pos, q @ bank.t()], dim=1) / 0.07
        self._push(k)
        return F.cross_entropy(logits, torch.zeros(len(a), dtype=torch.long, device=device))


data = torch.randn(5000, 64, device=device)
model = MoCo().to(device)
opt = torch.optim.SGD(model.enc.parameters(), lr=0.03, momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)
trace = []
for step in range(STEPS):
    x = data[torch.randint(0, 5000, (BATCH,), device=device)]
    loss = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    trace.append(loss.item())
print(f"loss {sum(trace[-20:]) / 20:.4f} queue {len(model.queue)}")
