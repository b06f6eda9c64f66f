"""Blob segmentation in mixed precision with online hard example mining."""
import heapq

import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
STEPS, BATCH, HARD, SIDE = 600, 16, 48, 128


def conv(i, o, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1), nn.BatchNorm2d(o), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.d3 = conv(3, 16), conv(16, 32, 2), conv(32, 64, 2)
        self.u2, self.u1 = conv(64 + 32, 32), conv(32 + 16, 16)
        self.out = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(a)
        c = self.d3(b)
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.out(a)


def blobs(n):
    g = torch.linspace(-1, 1, SIDE, device=DEV)
    cx, cy, r = (torch.rand(3, n, 1, 1, device=DEV) * 1.2 - 0.6).unbind(0)
    mask = ((g.view(1, 1, -1) - cx) ** 2 + (g.view(1, -1, 1) - cy) ** 2 < (0.25 + r.abs() / 4) ** 2).float()
    image = mask.unsqueeze(1) * torch.rand(n, 3, 1, 1, device=DEV) + 0.6 * torch.randn(n, 3, SIDE, SIDE, device=DEV)
    return image, mask.unsqueeze(1)


class HardMiner:
    def __init__(self, size):
        self.size = size
        self.heap = []

    def offer(self, step, losses, image, mask):
        worst = losses.topk(4).indices
        crops = image[worst], mask[worst]
        heapq.heappush(self.heap, (-losses.max().item(), step, crops))

    def draw(self):
        hardest = heapq.nsmallest(self.size // 4, self.heap)[:4]
        return [torch.cat(t) for t in zip(*(h[2] for h in hardest))]


torch.manual_seed(8)
model = TinyUNet().to(DEV)
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
scaler = torch.amp.GradScaler(DEV)
miner = HardMiner(HARD)
for step in range(STEPS):
    image, mask = miner.draw() if step % 10 == 9 else blobs(BATCH)
    with torch.autocast(DEV, dtype=torch.float16):
        logits = model(image)
    losses = F.binary_cross_entropy_with_logits(logits.float(), mask, reduction="none").mean((1, 2, 3))
    opt.zero_grad()
    scaler.scale(losses.mean()).backward()
    scaler.step(opt)
    scaler.update()
    if step % 10 != 9:
        miner.offer(step, losses.detach(), image, mask)
with torch.no_grad():
    image, mask = blobs(BATCH)
    iou = ((model(image) > 0) & (mask > 0)).sum() / ((model(image) > 0) | (mask > 0)).sum()
print(f"segmentation: IoU {iou.item():.3f}")
