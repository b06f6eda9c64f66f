"""Semantic search service: the encoder result of a query batch is memoized before the index look-up."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)


class Searcher:
    def __init__(self, docs=8192, dim=768):
        self.encoder = nn.Sequential(
            nn.Linear(300, 1024), nn.Tanh(), nn.Linear(1024, dim)
        ).to("cuda").eval()
        self.index = F.normalize(torch.randn(docs, dim, device="cuda"), dim=-1)
        self.memo = {}
        self.hits = 0

    @torch.inference_mode()
    def encode(self, query):
        if query in self.memo:
            self.hits += 1
            return self.memo[query]
        vec = self.encoder(query)
        vec = F.normalize(vec, dim=-1)  # SITE
        self.memo[query] = vec  # HOLDER
        return vec

    @torch.inference_mode()
    def search(self, query, k=5):
        vec = self.encode(query)
        scores = vec @ self.index.T
        return scores.topk(k, dim=-1).indices.cpu()


def main():
    searcher = Searcher()
    popular = [torch.randn(256, 300) for _ in range(5)]
    seen = torch.zeros(8192, dtype=torch.long)
    for turn in range(50):
        query = popular[turn % len(popular)].to("cuda", copy=True)  # SITE
        top = searcher.search(query)
        seen += torch.bincount(top.flatten(), minlength=8192)
        time.sleep(0.05)
    print("distinct docs", int((seen > 0).sum()), "most shown", int(seen.max()))


if __name__ == "__main__":
    main()
