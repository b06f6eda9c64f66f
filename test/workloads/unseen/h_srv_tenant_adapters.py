"""Online fine-tuning service: each tenant gets a low-rank adapter while it is subscribed."""
import collections

import torch
import torch.nn as nn
import torch.nn.functional as F

HID, RANK, CLASSES = 1024, 48, 20


class Adapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Parameter(torch.randn(HID, RANK, device="cuda") * 0.02)
        self.up = nn.Parameter(torch.zeros(RANK, HID, device="cuda"))

    def forward(self, h):
        return h + h @ self.down @ self.up


class Trainer:
    def __init__(self):
        self.base = nn.Sequential(nn.Linear(128, HID), nn.GELU(), nn.Linear(HID, HID)).to("cuda")
        self.base.requires_grad_(False)
        self.head = nn.Linear(HID, CLASSES).to("cuda")
        self.optimizer = torch.optim.Adam(self.head.parameters(), lr=1e-3)
        self.active = collections.OrderedDict()

    def subscribe(self, tenant):
        adapter = Adapter()
        self.active[tenant] = adapter
        self.optimizer.add_param_group({"params": list(adapter.parameters()), "lr": 3e-3})

    def unsubscribe(self, tenant):
        return self.active.pop(tenant)

    def update(self, tenant, x, y):
        h = self.active[tenant](self.base(x))
        loss = F.cross_entropy(self.head(h), y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def tenant_batch(tenant, n=512):
    g = torch.Generator(device="cuda").manual_seed(1000 + tenant)
    proj = torch.randn(128, CLASSES, generator=g, device="cuda")
    x = torch.randn(n, 128, device="cuda")
    return x, (x @ proj).argmax(1)


torch.manual_seed(0)
trainer = Trainer()
last = {}
for day in range(150):
    trainer.subscribe(day)
    if len(trainer.active) > 4:
        oldest = next(iter(trainer.active))
        trainer.unsubscribe(oldest)
    for tenant in trainer.active:
        for _ in range(2):
            last[tenant] = trainer.update(tenant, *tenant_batch(tenant))
mean = sum(last.values()) / len(last)
print(f"tenants {len(last)}, subscribed now {len(trainer.active)}, mean last loss {mean:.3f}")
