"""Batching inference server on asyncio: requests of random sizes wait in a bounded queue and are run together.

Report: https://github.com/deep-learning-with-pytorch/dlwpt-code/issues/26
Class: server
"""
import asyncio
import random

import torch
import torch.nn as nn


class BatchingServer:
    def __init__(self, queue_size=16, batch_size=6):
        self.model = nn.Sequential(nn.Conv1d(8, 64, 5, padding=2), nn.ReLU(), nn.Conv1d(64, 64, 5, padding=2),
                                   nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 3)).to("cuda").eval()
        self.queue = asyncio.Queue(maxsize=queue_size)
        self.batch_size = batch_size
        self.batches = 0

    async def infer(self, signal):
        future = asyncio.get_running_loop().create_future()
        await self.queue.put((signal, future))
        return await future

    async def run(self):
        while True:
            jobs = [await self.queue.get()]
            while len(jobs) < self.batch_size and not self.queue.empty():
                jobs.append(self.queue.get_nowait())
            longest = max(signal.shape[1] for signal, _ in jobs)
            batch = torch.stack([nn.functional.pad(s, (0, longest - s.shape[1])) for s, _ in jobs])
            with torch.no_grad():
                scores = self.model(batch)
            for (_, future), row in zip(jobs, scores):
                future.set_result(int(row.argmax()))
            self.batches += 1
            await asyncio.sleep(0.01)


async def client(server, requests, seed, answers):
    rng = random.Random(seed)
    for _ in range(requests):
        signal = torch.randn(8, rng.randint(50, 900), device="cuda")
        answers[await server.infer(signal)] += 1


async def main():
    torch.manual_seed(19)
    server, answers = BatchingServer(), [0, 0, 0]
    worker = asyncio.create_task(server.run())
    for round_ in range(4):
        await asyncio.gather(*(client(server, 4, 100 * round_ + seed, answers) for seed in range(24)))
        print(f"round {round_ + 1}: {sum(answers)} answers")
    worker.cancel()


if __name__ == "__main__":
    asyncio.run(main())
