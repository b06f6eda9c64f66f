"""Nearest-neighbour lookups with a range probe and a coarse fallback."""
import random

import torch
import torch.nn.functional as F

DEVICE = "cuda"
REQUESTS = 3000
N_VECTORS = 65536
DIM = 128


class EmptyProbe(RuntimeError):
    pass


class Index:
    def __init__(self):
        self.vectors = F.normalize(torch.randn(N_VECTORS, DIM, device=DEVICE), dim=1)
        self.coarse = self.vectors[::64].clone()
        self.rotation = torch.linalg.qr(torch.randn(DIM, DIM, device=DEVICE))[0]
        self.failures = []
        self.served = 0

    def probe(self, queries, radius):
        scores = queries @ self.vectors.T
        hits = (scores > radius).sum(dim=1)
        if int(hits.min()) == 0:
            raise EmptyProbe(f"no vector within {radius:.2f}")
        values, ids = scores.topk(10, dim=1)
        near = self.vectors[ids]
        refined = torch.einsum("qd,qkd->qk", queries @ self.rotation, near @ self.rotation)
        return ids.gather(1, refined.argsort(dim=1, descending=True))

    def fallback(self, queries):
        return (queries @ self.coarse.T).topk(10, dim=1).indices * 64

    def search(self, queries, radius):
        self.served += len(queries)
        try:
            return self.probe(queries, radius)
        except EmptyProbe as err:
            self.failures.append(err)
            return self.fallback(queries)


def main(index):
    rng = random.Random(0)
    clicks = torch.zeros(N_VECTORS, device=DEVICE)
    with torch.no_grad():
        for _ in range(REQUESTS):
            queries = F.normalize(torch.randn(16, DIM, device=DEVICE), dim=1)
            radius = 0.95 if rng.random() < 0.11 else 0.05
            ids = index.search(queries, radius)
            clicks.index_add_(0, ids.flatten(), torch.ones(ids.numel(), device=DEVICE))
    print(f"served {index.served} queries, {len(index.failures)} probes fell back, "
          f"hottest vector {int(clicks.argmax())}")


torch.manual_seed(0)
index = Index()
main(index)
