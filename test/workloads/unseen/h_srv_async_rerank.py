"""Re-ranking service: asyncio front end, one micro-batching loop."""
import asyncio
import itertools
import random

import torch
import torch.nn as nn


class Reranker(nn.Module):
    def __init__(self, dim=768, depth=8):
        super().__init__()
        layer = nn.TransformerEncoderLayer(dim, 8, 4 * dim, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, depth)
        self.score = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.enc(x)
        return h, self.score(h[:, 0]).squeeze(-1)


class Service:
    def __init__(self, model, max_batch=8):
        self.model = model
        self.max_batch = max_batch
        self.inbox = asyncio.Queue()
        self.ids = itertools.count()
        self.unclaimed = {}          # answers for clients that went away; a reconnect picks them up
        self.served = 0

    def submit(self, passages):
        fut = asyncio.get_running_loop().create_future()
        rid = next(self.ids)
        self.inbox.put_nowait((rid, passages, fut))
        return rid, fut

    def reconnect(self, rid):
        return self.unclaimed.pop(rid, None)

    async def run(self):
        while True:
            batch = [await self.inbox.get()]
            while len(batch) < self.max_batch and not self.inbox.empty():
                batch.append(self.inbox.get_nowait())
            x = torch.stack([p for _, p, _ in batch]).to("cuda")
            with torch.inference_mode():
                hidden, scores = self.model(x)
            values = scores.tolist()
            for i, (rid, _, fut) in enumerate(batch):
                answer = (values[i], hidden[i].to(torch.float16))
                if fut.done():
                    self.unclaimed[rid] = answer
                else:
                    fut.set_result(answer)
                self.served += 1


async def client(service, passages, patient):
    rid, fut = service.submit(passages)
    if not patient:
        fut.cancel()
        return None
    score, ctx = await fut
    return score + float(ctx[0].float().norm()) * 1e-3


torch.manual_seed(5)
service = Service(Reranker().to("cuda").eval())


async def main():
    rng = random.Random(5)
    loop_task = asyncio.create_task(service.run())
    pool = [torch.randn(384, 768) for _ in range(32)]
    answered = []
    for wave in range(130):
        calls = [client(service, rng.choice(pool), rng.random() > 0.3 or k == 0) for k in range(16)]
        got = await asyncio.gather(*calls)
        answered.extend(s for s in got if s is not None)
        if wave % 20 == 19:
            service.reconnect(rng.randrange(service.served))
    loop_task.cancel()
    print(f"served {service.served}, answered {len(answered)}, mean score {sum(answered) / len(answered):.4f}")


if __name__ == "__main__":
    asyncio.run(main())
