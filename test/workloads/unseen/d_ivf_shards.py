"""Inverted-file search: shards are placed on the GPU once, then queried for a while."""
import torch

DEVICE = "cuda"
SHARDS = 18
PER_SHARD = 80000
DIM = 96
LISTS = 256
QUERIES = 3500


def kmeans(points, k, rounds=12):
    centres = points[torch.randperm(len(points), device=DEVICE)[:k]].clone()
    for _ in range(rounds):
        owner = torch.cdist(points, centres).argmin(1)
        sums = torch.zeros_like(centres).index_add_(0, owner, points)
        count = torch.bincount(owner, minlength=k).clamp(min=1)
        centres = sums / count[:, None]
    return centres


class Shard:
    def __init__(self, points, centres):
        owner = torch.cdist(points, centres).argmin(1)
        order = owner.argsort()
        self.points = points[order]
        self.ids = order
        self.offsets = [0] + torch.bincount(owner, minlength=LISTS).cumsum(0).tolist()

    def scan(self, query, lists, k):
        best = []
        for i in lists:
            a, b = self.offsets[i], self.offsets[i + 1]
            if a < b:
                distance = (self.points[a:b] - query).square().sum(1)
                best.append(distance)
        merged = torch.cat(best)
        return merged.topk(min(k, len(merged)), largest=False).values


def main():
    torch.manual_seed(16)
    spread = torch.randn(DIM, DIM, device=DEVICE) / DIM ** 0.5
    sample = torch.randn(PER_SHARD, DIM, device=DEVICE) @ spread
    centres = kmeans(sample, LISTS)
    shards = []
    for _ in range(SHARDS):
        shards.append(Shard(torch.randn(PER_SHARD, DIM, device=DEVICE) @ spread, centres))
    del sample
    nearest = []
    for n in range(QUERIES):
        query = torch.randn(DIM, device=DEVICE) @ spread
        lists = (centres - query).square().sum(1).topk(4, largest=False).indices.tolist()
        picked = [shards[(n + s) % SHARDS] for s in range(6)]
        found = torch.cat([shard.scan(query, lists, 10) for shard in picked])
        nearest.append(found.min().item())
    print(f"{QUERIES} queries over {SHARDS * PER_SHARD} vectors, "
          f"mean nearest distance {sum(nearest) / len(nearest):.4f}")


main()
