"""Late-interaction re-ranking with an LRU of encoded documents, bounded in bytes."""
import random
from collections import OrderedDict

import torch
import torch.nn.functional as F

DEVICE = "cuda"
QUERIES = 3500
CANDIDATES = 10
VOCAB, DIM, DOC_LEN = 30000, 128, 3072


class DocumentCache:
    def __init__(self, limit):
        self.limit = limit
        self.used = 0
        self.entries = OrderedDict()
        self.hits = self.misses = 0

    def get(self, doc, encode):
        if doc in self.entries:
            self.hits += 1
            self.entries.move_to_end(doc)
            return self.entries[doc]
        self.misses += 1
        matrix = encode(doc)
        self.entries[doc] = matrix
        self.used += matrix.nbytes
        while self.used > self.limit:
            _, old = self.entries.popitem(last=False)
            self.used -= old.nbytes
        return matrix


class Encoder:
    def __init__(self):
        self.table = torch.randn(VOCAB, DIM, device=DEVICE)
        self.mix = torch.randn(DIM, DIM, 3, device=DEVICE) * 0.1

    def __call__(self, doc, length=DOC_LEN):
        tokens = (torch.arange(length, device=DEVICE) * (2 * doc + 7919) + doc) % VOCAB
        x = self.table[tokens]
        for _ in range(3):
            x = x + F.conv1d(x.T.unsqueeze(0), self.mix, padding=1)[0].T
            x = F.normalize(x, dim=1)
        return x


def main():
    torch.manual_seed(15)
    rng = random.Random(15)
    encoder = Encoder()
    cache = DocumentCache(limit=1000 * 2 ** 20)
    wins = {}
    for n in range(QUERIES):
        query = encoder(100000 + n, length=32)
        newest = 20 + n                       # one document is published per query
        picks = {max(0, newest - int(rng.expovariate(1 / 300))) for _ in range(CANDIDATES)}
        scores = {d: (query @ cache.get(d, encoder).T).amax(1).sum() for d in picks}
        stacked = torch.stack(list(scores.values()))
        winner = list(scores)[int(stacked.argmax())]
        wins[winner] = wins.get(winner, 0) + 1
    print(f"{QUERIES} queries, hit rate {cache.hits / (cache.hits + cache.misses):.3f}, "
          f"{len(cache.entries)} documents resident, {len(wins)} different winners")


main()
