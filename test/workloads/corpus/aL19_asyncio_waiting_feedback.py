"""Recommendation server on asyncio: after each answer it waits for the user's rating and then learns from it.

Report: https://github.com/deep-learning-with-pytorch/dlwpt-code/issues/26
Class: asyncio-task
"""
import asyncio
import random

import torch
import torch.nn as nn


class Recommender:
    def __init__(self):
        self.tower = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128)).to("cuda")
        self.items = nn.Parameter(torch.randn(500, 128, device="cuda") * 0.1)
        self.optimizer = torch.optim.SGD([*self.tower.parameters(), self.items], lr=0.01)
        self.feedback = {}
        self.learned = 0

    async def learn_later(self, request_id, users):
        vectors = self.tower(users).detach()  # SITE
        rating = asyncio.get_running_loop().create_future()
        self.feedback[request_id] = rating  # HOLDER
        value = await rating
        loss = ((vectors @ self.items.t()).mean(dim=1) - value).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.learned += 1

    async def handle(self, request_id, rng):
        users = torch.randn(32, 64, device="cuda")
        with torch.no_grad():
            best = (self.tower(users) @ self.items.t()).argmax(dim=1)
        asyncio.create_task(self.learn_later(request_id, users[:24].clone()))  # ALSO
        return int(best[0])

    def rate(self, request_id, value):
        self.feedback.pop(request_id).set_result(value)


async def main():
    torch.manual_seed(16)
    rng = random.Random(16)
    server = Recommender()
    for request_id in range(400):
        await server.handle(request_id, rng)
        await asyncio.sleep(0.004)
        if rng.random() < 0.3:
            server.rate(request_id, rng.uniform(-1, 1))
        if request_id % 100 == 99:
            await asyncio.sleep(0)
            print(f"{request_id + 1} requests, {server.learned} ratings used")


if __name__ == "__main__":
    asyncio.run(main())
