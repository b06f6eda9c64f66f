"""asyncio text generation: an engine batches the next token of all open requests."""
import asyncio

import torch
import torch.nn.functional as F

DEV = "cuda"
D, H = 768, 12


class Engine:
    def __init__(self):
        self.emb = torch.randn(5000, D, device=DEV) * 0.05
        self.qkv = torch.randn(D, 3 * D, device=DEV) * D ** -0.5
        self.wo = torch.randn(D, D, device=DEV) * D ** -0.5
        self.caches = {}
        self.ready = asyncio.Queue()
        self.steps = self.tokens = 0

    def split(self, x):
        return (x @ self.qkv).view(len(x), 3, H, D // H).permute(1, 2, 0, 3)

    def open(self, rid, prompt):
        _, k, v = self.split(self.emb[prompt])
        self.caches[rid] = (k.contiguous(), v.contiguous())

    def step(self, batch):
        x = self.emb[torch.tensor([tok for _, tok, _ in batch], device=DEV)]
        q, k, v = self.split(x)
        outs = []
        for j, (rid, _, _) in enumerate(batch):
            ck, cv = self.caches[rid]
            ck, cv = torch.cat([ck, k[:, j:j + 1]], 1), torch.cat([cv, v[:, j:j + 1]], 1)
            self.caches[rid] = (ck, cv)
            outs.append(F.scaled_dot_product_attention(q[:, j:j + 1], ck, cv).reshape(1, D))
        return ((x + torch.cat(outs) @ self.wo) @ self.emb.T).argmax(1).tolist()

    async def loop(self, on_step):
        while True:
            batch = [await self.ready.get()]
            batch += [self.ready.get_nowait() for _ in range(self.ready.qsize())]
            for (_, _, fut), tok in zip(batch, self.step(batch)):
                fut.set_result(tok)
            self.steps += 1
            self.tokens += len(batch)
            on_step(self.steps)


async def client(engine, cid, n_requests):
    for r in range(n_requests):
        rid, tok = (cid, r), cid
        engine.open(rid, torch.randint(0, 5000, (500 + 60 * (r % 4),), device=DEV))
        try:
            for _ in range(48):
                fut = asyncio.get_running_loop().create_future()
                await engine.ready.put((rid, tok, fut))
                tok = await fut
        finally:
            del engine.caches[rid]


async def main():
    engine, crowd = Engine(), []

    def arrive(step):
        if step % 8 == 0 and len(crowd) < 28:
            crowd.append(asyncio.create_task(client(engine, len(crowd), 20)))

    arrive(0)
    runner = asyncio.create_task(engine.loop(arrive))
    while sum(t.done() for t in crowd) < 28:
        await asyncio.wait([t for t in crowd if not t.done()])
    runner.cancel()
    print(f"{engine.tokens} tokens in {engine.steps} steps, {sum(t.exception() is None for t in crowd)} users served")


if __name__ == "__main__":
    torch.manual_seed(0)
    with torch.inference_mode():
        asyncio.run(main())
