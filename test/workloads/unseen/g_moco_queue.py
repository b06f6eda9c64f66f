"""MoCo: momentum encoder and a list of key batches used as negatives."""
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
device = torch.device("cuda")
STEPS, BATCH, DIM, KEEP = 260, 512, 256, 150


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(3, 48, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(48, 96, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(96, 192, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(192, 512), nn.ReLU(), nn.Linear(512, DIM))

    def forward(self, x):
        return F.normalize(self.head(self.conv(x)), dim=1)


def view(x):
    dy, dx = torch.randint(-3, 4, (2,)).tolist()
    return torch.roll(x, (dy, dx), (2, 3)) + 0.2 * torch.randn_like(x)


@torch.no_grad()
def momentum_update(slow, fast, m):
    for ps, pf in zip(slow.parameters(), fast.parameters()):
        ps.lerp_(pf, 1 - m)


query_net = Net().to(device)
key_net = copy.deepcopy(query_net).requires_grad_(False)
opt = torch.optim.SGD(query_net.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
pool = torch.randn(4096, 3, 32, 32, device=device)
keys = []
hits = 0.0
for step in range(STEPS):
    x = pool[torch.randint(len(pool), (BATCH,), device=device)]
    q = query_net(view(x))
    with torch.no_grad():
        k = key_net(view(x))
    pos = (q * k).sum(1, keepdim=True)
    if keys:
        neg = q @ torch.cat(keys).t()
        logits = torch.cat([pos, neg], 1) / 0.1
    else:
        logits = q @ k.t() / 0.1
    target = torch.zeros(BATCH, dtype=torch.long, device=device)
    if not keys:
        target = torch.arange(BATCH, device=device)
    loss = F.cross_entropy(logits, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    momentum_update(key_net, query_net, min(0.99, 0.9 + step / 1000))
    keys.append(k)
    if len(keys) > KEEP:
        keys = keys[-KEEP:]
    hits = 0.9 * hits + 0.1 * (logits.argmax(1) == target).float().mean().item()
print(f"loss {loss.item():.3f} negatives {len(keys) * BATCH} hit rate {hits:.3f}")
