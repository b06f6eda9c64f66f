"""Inverted-file vector search with a result cache; prints recall against brute force."""
import argparse
import collections
import random

import torch

DEV = torch.device("cuda")


class IVF:
    def __init__(self, dim, lists):
        self.dim = dim
        self.centres = torch.randn(lists, dim, device=DEV)
        self.cells = []

    def refine(self, sample, rounds=6):
        for _ in range(rounds):
            own = torch.cdist(sample, self.centres).argmin(1)
            total = torch.zeros_like(self.centres).index_add_(0, own, sample)
            count = torch.bincount(own, minlength=len(self.centres)).clamp_min(1)
            self.centres = total / count[:, None]

    def build(self, base):
        own = torch.cat([torch.cdist(c, self.centres).argmin(1) for c in base.split(20000)])
        for cell in range(len(self.centres)):
            ids = (own == cell).nonzero().squeeze(1)
            self.cells.append((ids, base[ids]))

    def search(self, q, k, probes):
        near = torch.cdist(q, self.centres).mean(0).topk(probes, largest=False).indices.tolist()
        ids = torch.cat([self.cells[c][0] for c in near])
        vec = torch.cat([self.cells[c][1] for c in near])
        top = torch.cdist(q, vec).topk(k, largest=False)
        return ids[top.indices]


class CachedSearch:
    def __init__(self, index, topics, size):
        self.index, self.topics, self.size = index, topics, size
        self.recent = collections.OrderedDict()
        self.hits = 0

    def __call__(self, topic, k, probes):
        if topic in self.recent:
            self.recent.move_to_end(topic)
            self.hits += 1
            return self.recent[topic]
        q = self.topics[topic] + 0.1 * torch.randn(1024, self.index.dim, device=DEV)
        answer = (q, self.index.search(q, k, probes))
        self.recent[topic] = answer
        if len(self.recent) > self.size:
            self.recent.popitem(last=False)
        return answer


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=26)
    ap.add_argument("--cache", type=int, default=48)
    args = ap.parse_args()
    torch.manual_seed(0)
    rng = random.Random(0)
    topics = torch.randn(400, 128, device=DEV)
    base = topics[torch.randint(0, 400, (120000,), device=DEV)] + 0.5 * torch.randn(120000, 128, device=DEV)
    index = IVF(128, 64)
    index.refine(base[:20000])
    index.build(base)
    search = CachedSearch(index, topics, args.cache)
    recall = []
    for rnd in range(args.rounds):
        for _ in range(40):
            topic = min(int(rng.paretovariate(0.35)), 400) - 1
            q, ids = search(topic, 50, 16)
        exact = torch.cdist(q[:128], base).topk(50, largest=False).indices
        same = (ids[:128, :, None] == exact[:, None, :]).any(2).float().mean()
        recall.append(same.item())
    print(f"recall {sum(recall) / len(recall):.3f}, cache hits {search.hits} of {args.rounds * 40}")


main()
