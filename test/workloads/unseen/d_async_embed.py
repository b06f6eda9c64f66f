"""asyncio embedding service with a quality audit that runs after each reply."""
import asyncio

import torch
from torch import nn
import torch.nn.functional as F

DEVICE = "cuda"
TICKS = 280
CONCURRENT = 4
BATCH = 2048


class Service:
    def __init__(self):
        self.encoder = nn.Sequential(
            nn.Linear(768, 4096), nn.GELU(),
            nn.Linear(4096, 4096), nn.GELU(),
            nn.Linear(4096, 512)).to(DEVICE)
        self.catalogue = F.normalize(torch.randn(20000, 512, device=DEVICE), dim=1)
        self.background = set()
        self.alarms = 0

    async def audit(self, embedding):
        centred = embedding - embedding.mean(0)
        covariance = centred.T @ centred / len(centred)
        if covariance.diagonal().amax() > 0.5:
            self.alarms += 1
        return covariance

    async def handle(self, payload):
        embedding = F.normalize(self.encoder(payload), dim=1)
        # asyncio only holds tasks weakly, so hold a reference here
        task = asyncio.create_task(self.audit(embedding))
        self.background.add(task)
        scores = embedding[:256] @ self.catalogue.T
        return scores.argmax(dim=1).tolist()


async def run(service):
    popular = {}
    for _ in range(TICKS):
        payloads = [torch.randn(BATCH, 768, device=DEVICE) for _ in range(CONCURRENT)]
        for ids in await asyncio.gather(*map(service.handle, payloads)):
            for i in ids:
                popular[i] = popular.get(i, 0) + 1
    top = max(popular, key=popular.get)
    print(f"{TICKS * CONCURRENT} replies, most returned item {top} ({popular[top]}x), "
          f"{service.alarms} alarms")


torch.manual_seed(5)
service = Service()
with torch.no_grad():
    asyncio.run(run(service))
