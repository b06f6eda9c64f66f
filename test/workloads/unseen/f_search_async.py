"""asyncio similarity search with a deadline for each query."""
import asyncio
import random

import torch
import torch.nn.functional as F

DEV = "cuda"


class SearchService:
    def __init__(self, n_docs, dim):
        self.docs = F.normalize(torch.randn(n_docs, dim, device=DEV), dim=1)
        self.inbox = asyncio.Queue(maxsize=16)
        self.inflight = {}
        self.stats = {"answered": 0, "expired": 0}

    async def search(self, rid, query, budget):
        fut = asyncio.get_running_loop().create_future()
        self.inflight[rid] = (fut, query)
        await self.inbox.put(rid)
        try:
            hit = await asyncio.wait_for(fut, budget)
        except asyncio.TimeoutError:
            self.stats["expired"] += 1
            return None
        del self.inflight[rid]
        return hit

    async def worker(self):
        while True:
            rid = await self.inbox.get()
            fut, query = self.inflight[rid]
            if not fut.done():
                score, ids = (query @ self.docs.T).topk(10, dim=1)
                fut.set_result((score[:, 0].mean().item(), ids[:, 0].tolist()))
                self.stats["answered"] += 1
            self.inbox.task_done()


class Client:
    def __init__(self, service, seed, dim):
        self.service, self.dim = service, dim
        self.rng = random.Random(seed)
        self.proj = torch.randn(dim, dim, device=DEV) / dim ** 0.5
        self.best = []

    def encode(self, n):
        words = torch.randn(n, 6, self.dim, device=DEV)
        return F.normalize(words.mean(1) @ self.proj, dim=1)

    async def run(self, n_requests):
        for k in range(n_requests):
            # what the gateway has left of the time; often nothing under load
            budget = self.rng.choice([0.0, 5.0, 5.0])
            hit = await self.service.search((id(self), k), self.encode(1200), budget)
            if hit is not None:
                self.best.append(hit[0])


async def main(service):
    workers = [asyncio.create_task(service.worker()) for _ in range(2)]
    clients = [Client(service, s, 256) for s in range(6)]
    await asyncio.gather(*(c.run(170) for c in clients))
    await service.inbox.join()
    for w in workers:
        w.cancel()
    return sum(sum(c.best) for c in clients) / sum(len(c.best) for c in clients)


if __name__ == "__main__":
    torch.manual_seed(0)
    service = SearchService(40000, 256)
    mean = asyncio.run(main(service))
    print(f"{service.stats} mean top score {mean:.4f}")
