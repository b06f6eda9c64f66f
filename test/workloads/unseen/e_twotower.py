"""Two-tower recommender: SparseAdam for tables, AdamW for towers, full ranking each epoch, early stopping."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
USERS, ITEMS, DIM, LATENT = 20_000, 4_000, 128, 16
EPOCHS, STEPS, BATCH, PATIENCE = 45, 30, 1024, 20


class Tower(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.table = nn.Embedding(count, DIM, sparse=True)
        self.mlp = nn.Sequential(nn.Linear(DIM, 256), nn.ReLU(), nn.Linear(256, 64))

    def forward(self, ids):
        return F.normalize(self.mlp(self.table(ids)), dim=-1)


class World:
    def __init__(self):
        self.u = torch.randn(USERS, LATENT, device=DEV)
        self.v = torch.randn(ITEMS, LATENT, device=DEV)

    def clicks(self, n):
        users = torch.randint(0, USERS, (n,), device=DEV)
        scores = self.u[users] @ self.v.T + 1.5 * torch.randn(n, ITEMS, device=DEV)
        return users, scores.argmax(1)


@torch.no_grad()
def validate(user_tower, item_tower, world):
    items = item_tower(torch.arange(ITEMS, device=DEV))
    scores, truth = [], []
    for _ in range(16):
        users, clicked = world.clicks(512)
        scores.append(user_tower(users) @ items.T)
        truth.append(clicked)
    top = torch.cat(scores).topk(50, dim=1).indices
    return (top == torch.cat(truth)[:, None]).any(1).float().mean().item()


def main():
    torch.manual_seed(9)
    world = World()
    towers = nn.ModuleList([Tower(USERS), Tower(ITEMS)]).to(DEV)
    sparse = torch.optim.SparseAdam([t.table.weight for t in towers], lr=5e-3)
    dense = torch.optim.AdamW([p for t in towers for p in t.mlp.parameters()], lr=1e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(dense, mode="max", factor=0.5, patience=4)
    best, best_state, stale, curve = -1.0, None, 0, []
    for epoch in range(EPOCHS):
        for _ in range(STEPS):
            users, clicked = world.clicks(BATCH)
            logits = towers[0](users) @ towers[1](clicked).T / 0.07
            loss = F.cross_entropy(logits, torch.arange(BATCH, device=DEV))
            for opt in (sparse, dense):
                opt.zero_grad()
            loss.backward()
            for opt in (sparse, dense):
                opt.step()
        recall = validate(towers[0], towers[1], world)
        curve.append((epoch, loss.item(), recall))
        plateau.step(recall)
        if recall > best:
            best, best_state, stale = recall, copy.deepcopy(towers.state_dict()), 0
        else:
            stale += 1
            if stale >= PATIENCE:
                break
    towers.load_state_dict(best_state)
    print(f"two towers: {len(curve)} epochs, recall@50 {best:.3f}")


main()
