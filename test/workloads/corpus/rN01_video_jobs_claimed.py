"""Video jobs on asyncio: clients fetch clips when they please; what nobody fetched in time is thrown away.
Report: https://github.com/vllm-project/vllm/issues/57061
Class: results-expire
"""
import asyncio
import random
from dataclasses import dataclass

import torch
from torch import nn

REQUESTS, FRAMES, SIDE, LIFETIME = 330, 6, 64, 45


@dataclass
class Result:
    clip: torch.Tensor
    expires: int


class Animator(nn.Module):
    def __init__(self):
        super().__init__()
        self.grow = nn.Linear(32, 24 * 8 * 8)
        self.cell = nn.Conv2d(48, 24, 3, padding=1)
        self.show = nn.Sequential(nn.Upsample(scale_factor=8), nn.Conv2d(24, 3, 3, padding=1), nn.Tanh())

    def forward(self, seed):
        first = h = self.grow(seed).view(-1, 24, 8, 8)
        frames = []
        for _ in range(FRAMES):
            h = torch.tanh(self.cell(torch.cat([h, first], dim=1)))
            frames.append(self.show(h))
        return torch.stack(frames, dim=1)


class Store:
    """Finished clips by job; sweep() drops what is too old, a cancelled job drops its own."""

    def __init__(self):
        self.now = 0
        self.results = {}
        self.dropped = 0

    def put(self, job, clip):
        self.results[job] = Result(clip, self.now + LIFETIME)

    def take(self, job):
        result = self.results.pop(job, None)
        return None if result is None else result.clip

    def sweep(self):
        self.now += 1
        late = [job for job, result in self.results.items() if result.expires <= self.now]
        for job in late:
            del self.results[job]
        self.dropped += len(late)


async def client(store, animator, job, rng, tally):
    gen = torch.Generator().manual_seed(job)
    count = rng.randint(1, 3)
    try:
        store.put(job, animator(torch.randn(count, 32, generator=gen).to("cuda")))
        for _ in range(rng.randint(0, 30)):
            await asyncio.sleep(0)
        if rng.random() < 0.25:
            return
        clip = store.take(job)
        if clip is not None:
            tally["sent"] += count
            tally["motion"] += float((clip[:, 1:] - clip[:, :-1]).abs().mean())
    except asyncio.CancelledError:
        store.take(job)
        tally["cancelled"] += 1
        raise


async def main():
    torch.manual_seed(62)
    rng = random.Random(62)
    animator = Animator().to("cuda").eval()
    store, running = Store(), set()
    tally = {"sent": 0, "motion": 0.0, "cancelled": 0}
    with torch.inference_mode():
        for job in range(REQUESTS):
            task = asyncio.create_task(client(store, animator, job, rng, tally))
            running.add(task)
            task.add_done_callback(running.discard)
            await asyncio.sleep(0)
            if rng.random() < 0.1 and running:
                rng.choice(sorted(running, key=id)).cancel()
            store.sweep()
            if job % 66 == 65:
                print(f"{job + 1} jobs: {tally['sent']} clips sent, {store.dropped} dropped, {len(store.results)} wait")
        await asyncio.gather(*running, return_exceptions=True)
    print(f"motion per clip {tally['motion'] / max(1, tally['sent']):.4f}")


asyncio.run(main())
