import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(41)
device = "cuda"
STEPS, BATCH, DIM, QUEUE = 150, 1024, 160, 65536 * 4


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(96, 256), nn.ReLU(), nn.Linear(256, DIM))

    def forward(self, x):
        return F.normalize(self.body(x), dim=1)


class Contrast:
    def __init__(self):
        self.q, self.k = Encoder().to(device), Encoder().to(device)
        self.k.load_state_dict(self.q.state_dict())
        self.negatives = torch.empty(0, DIM, device=device)

    @torch.no_grad()
    def momentum_update(self, m=0.99):
        for pq, pk in zip(self.q.parameters(), self.k.parameters()):
            pk.mul_(m).add_(pq, alpha=1 - m)

    @torch.no_grad()
    def enqueue(self, keys):
        self.negatives = torch.cat([self.negatives, keys])  # SITE HOLDER
        if len(self.negatives) > QUEUE:
            self.negatives = self.negatives[-QUEUE:]

    def loss(self, a, b):
        query = self.q(a)
        with torch.no_grad():
            key = self.k(b)
        pos = (query * key).sum(1, keepdim=True)
        pick = torch.randint(0, max(len(self.negatives), 1), (256,), device=device)
        bank = self.negatives[pick] if len(self.negatives) else key[:256]
        logits = torch.cat([pos, query @ bank.t()], 1) / 0.1
        target = torch.zeros(len(a), dtype=torch.long, device=device)
        return F.cross_entropy(logits, target), key


data = torch.randn(8192, 96, device=device)
moco = Contrast()
opt = torch.optim.SGD(moco.q.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for step in range(STEPS):
    x = data[torch.randint(0, 8192, (BATCH,), device=device)]
    loss, key = moco.loss(x + 0.2 * torch.randn_like(x), x + 0.2 * torch.randn_like(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
    moco.momentum_update()
    moco.enqueue(key)
print(f"contrastive loss {loss.item():.4f}")
