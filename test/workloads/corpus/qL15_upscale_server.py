"""An asyncio server that upscales images in micro-batches for clients of different patience."""
import asyncio

import torch
from torch import nn

SIZE = 40


class Upscaler:
    def __init__(self):
        self.net = nn.Sequential(
            nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.PixelShuffle(2)
        ).to("cuda")
        self.inbox = asyncio.Queue()
        self.finished = {}
        self.batches = 0

    async def serve(self):
        while True:
            jobs = [await self.inbox.get()]
            while len(jobs) < 4 and not self.inbox.empty():
                jobs.append(self.inbox.get_nowait())
            with torch.no_grad():
                images = self.net(torch.stack([image for _, image in jobs]))  # SITE
            for (number, _), image in zip(jobs, images):
                self.finished[number] = image  # HOLDER
            self.batches += 1
            await asyncio.sleep(0)

    async def submit(self, number, image):
        await self.inbox.put((number, image))

    async def collect(self, number, patience):
        for _ in range(patience):
            if number in self.finished:
                return self.finished.pop(number)
            await asyncio.sleep(0)
        return None


async def client(server, number, patience, report):
    image = torch.rand(3, SIZE, SIZE, device="cuda")
    await server.submit(number, image)
    result = await server.collect(number, patience)
    if result is None:
        report["late"] += 1
    else:
        report["mean"] += result.mean().item()
        report["served"] += 1


async def main():
    torch.manual_seed(40)
    server = Upscaler()
    worker = asyncio.create_task(server.serve())
    report = {"late": 0, "served": 0, "mean": 0.0}
    for wave in range(360):
        base = wave * 6
        await asyncio.gather(
            *(client(server, base + i, 2 if i == 5 else 50, report) for i in range(6))
        )
        if wave % 72 == 71:
            print(f"wave {wave + 1}: served {report['served']} late {report['late']} mean {report['mean']:.4f}")
    worker.cancel()


asyncio.run(main())
