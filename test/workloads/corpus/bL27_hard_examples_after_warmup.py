"""Trains an image classifier; after a warm-up the pictures with large losses are set aside for one more look.
Class: late-start
"""
import torch
import torch.nn.functional as F
from torch import nn

WARMUP, STEPS = 120, 360


class HardExampleMiner:
    def __init__(self, quantile):
        self.quantile = quantile
        self.pool = []

    def collect(self, images, losses):
        limit = losses.quantile(self.quantile)
        for index in torch.nonzero(losses >= limit).flatten().tolist():
            self.pool.append((images[index].clone(), losses[index].item()))  # SITE HOLDER

    def draw(self, count):
        if len(self.pool) < count:
            return None
        picks = torch.randint(0, len(self.pool), (count,)).tolist()
        return torch.stack([self.pool[i][0] for i in picks])


model = nn.Sequential(
    nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, 2),
).to("cuda")
torch.manual_seed(97)
for parameter in model.parameters():
    nn.init.normal_(parameter, std=0.05)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
miner = HardExampleMiner(quantile=0.92)
for step in range(STEPS):
    size = int(torch.randint(16, 40, ()))
    images = torch.randn(size, 3, 36, 36, device="cuda")
    labels = (images[:, 0].mean(dim=(1, 2)) > images[:, 1].mean(dim=(1, 2))).long()
    losses = F.cross_entropy(model(images), labels, reduction="none")
    loss = losses.mean()
    if step >= WARMUP:
        miner.collect(images, losses.detach())
        again = miner.draw(16)
        if again is not None:
            target = (again[:, 0].mean(dim=(1, 2)) > again[:, 1].mean(dim=(1, 2))).long()
            loss = loss + 0.5 * F.cross_entropy(model(again), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 90 == 0:
        print(f"step {step}: loss {losses.mean().item():.4f}")
