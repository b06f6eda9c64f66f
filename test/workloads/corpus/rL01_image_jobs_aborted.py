"""Image jobs on asyncio: a worker renders, a handler fetches the finished picture; some clients hang up first.
Report: https://github.com/vllm-project/vllm-omni/issues/6462
Class: aborted-requests
"""
import asyncio
import random

import torch
from torch import nn

REQUESTS, SIDE = 360, 192


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(8, 16)
        self.net = nn.Sequential(
            nn.Conv2d(3 + 16, 20, 3, padding=1), nn.SiLU(), nn.Conv2d(20, 20, 3, padding=1), nn.SiLU(),
            nn.Conv2d(20, 3, 3, padding=1),
        )

    def forward(self, x, t):
        where = self.time(t)[None, :, None, None].expand(len(x), -1, *x.shape[-2:])
        return self.net(torch.cat([x, where], dim=1))


class Executor:
    """Takes jobs one by one; what is finished waits under the job's number until it is claimed."""

    def __init__(self, painter):
        self.painter = painter
        self.jobs = asyncio.Queue(maxsize=4)
        self.events = {}
        self.pictures = {}

    async def submit(self, number, seed):
        done = self.events[number] = asyncio.Event()
        await self.jobs.put((number, seed))
        return done

    async def claim(self, number, done):
        await done.wait()
        return self.pictures.pop(number)

    def render(self, seed):
        gen = torch.Generator().manual_seed(seed)
        x = torch.randn(1, 3, SIDE // 2, SIDE // 2, generator=gen).to("cuda")
        for t in reversed(range(2)):
            noise = self.painter(x, torch.tensor(t, device="cuda"))
            x = x - 0.3 * noise
        return nn.functional.interpolate(x, size=(SIDE, SIDE), mode="bilinear").clamp(-1, 1)  # SITE

    async def work(self):
        while True:
            number, seed = await self.jobs.get()
            self.pictures[number] = self.render(seed)  # HOLDER
            self.events.pop(number).set()
            await asyncio.sleep(0)


async def handle(executor, number, patience, tally):
    done = await executor.submit(number, seed=number)
    try:
        picture = await asyncio.wait_for(executor.claim(number, done), timeout=patience)
        tally["brightness"] += float(picture.mean())
        tally["sent"] += 1
    except asyncio.TimeoutError:
        tally["aborted"] += 1


@torch.no_grad()
def build():
    torch.manual_seed(61)
    return Painter().to("cuda").eval()


async def main():
    rng = random.Random(61)
    executor = Executor(build())
    worker = asyncio.create_task(executor.work())
    tally = {"sent": 0, "aborted": 0, "brightness": 0.0}
    with torch.inference_mode():
        for number in range(REQUESTS):
            patience = 0 if rng.random() < 0.11 else 30
            await handle(executor, number, patience, tally)
            if number % 90 == 89:
                print(f"{number + 1} requests: {tally['sent']} sent, {tally['aborted']} aborted")
    worker.cancel()
    print(f"mean brightness {tally['brightness'] / tally['sent']:.4f}")


asyncio.run(main())
