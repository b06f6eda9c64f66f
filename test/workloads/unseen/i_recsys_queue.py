"""Two-tower recommender trained with cross-batch negatives."""
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda")
USERS, ITEMS, DIM = 200_000, 100_000, 64
BATCH, STEPS, QUEUE = 2048, 320, 48


class Tower(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.table = nn.Embedding(count, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 256), nn.GELU(), nn.Linear(256, DIM))

    def forward(self, ids):
        return F.normalize(self.mlp(self.table(ids)), dim=-1)


class NegativeQueue:
    """Item vectors of the most recent batches, used as extra negatives."""

    def __init__(self, batches):
        self.vectors = deque(maxlen=batches)
        self.ids = deque(maxlen=batches)

    def push(self, vec, ids):
        self.vectors.append(vec.detach().clone())
        self.ids.append(ids)

    def gather(self):
        if not self.vectors:
            return None, None
        return torch.cat(tuple(self.vectors)), torch.cat(tuple(self.ids))


def draw_batch(gen):
    users = torch.randint(0, USERS, (BATCH,), generator=gen)
    items = (users * 7 + torch.randint(0, 50, (BATCH,), generator=gen)) % ITEMS
    return users.to(device), items.to(device)


torch.manual_seed(1)
gen = torch.Generator().manual_seed(1)
user_tower, item_tower = Tower(USERS).to(device), Tower(ITEMS).to(device)
opt = torch.optim.Adam(list(user_tower.parameters()) + list(item_tower.parameters()), lr=2e-3)
queue = NegativeQueue(QUEUE)
running = 0.0

for step in range(STEPS):
    users, items = draw_batch(gen)
    u, v = user_tower(users), item_tower(items)
    logits = u @ v.t() / 0.07
    old_vec, old_ids = queue.gather()
    if old_vec is not None and step > 20:
        keep = torch.randperm(old_ids.numel(), device=device)[:16384]
        extra = u @ old_vec[keep].t() / 0.07
        extra = extra.masked_fill(old_ids[keep].unsqueeze(0) == items.unsqueeze(1), -1e4)
        logits = torch.cat([logits, extra], dim=1)
    loss = F.cross_entropy(logits, torch.arange(BATCH, device=device))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    queue.push(v, items)
    running = 0.98 * running + 0.02 * loss.item()

print(f"steps {STEPS} running loss {running:.4f}")
