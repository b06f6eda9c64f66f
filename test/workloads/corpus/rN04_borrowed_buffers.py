"""Stacks photographs; frames are borrowed from a pool and come back by themselves when nobody uses them any more.
Report: https://github.com/iree-org/iree-turbine/issues/281
Class: finalize
"""
import random
import weakref
from collections import deque

import torch
import torch.nn.functional as F

SHOTS, HEIGHT, WIDTH, SPARE = 560, 270, 360, 12


class Frame:
    """A picture of a burst; its buffer goes home with it."""

    def __init__(self, pixels):
        self.pixels = pixels


class Pool:
    def __init__(self, spare):
        self.spare = spare
        self.free = []
        self.made = self.scrapped = 0

    def borrow(self):
        if self.free:
            buffer = self.free.pop()
        else:
            buffer = torch.empty(3, HEIGHT, WIDTH, device="cuda")
            self.made += 1
        frame = Frame(buffer)
        weakref.finalize(frame, self.give_back, buffer)
        return frame

    def give_back(self, buffer):
        if len(self.free) < self.spare:
            self.free.append(buffer)
        else:
            self.scrapped += 1


def shoot(pool, scene, rng):
    frame = pool.borrow()
    down, right = rng.randint(0, 7), rng.randint(0, 7)
    gen = torch.Generator().manual_seed(rng.randrange(1 << 30))
    noise = torch.randn(3, HEIGHT, WIDTH, generator=gen).to("cuda")
    frame.pixels.copy_(scene[:, down:down + HEIGHT, right:right + WIDTH] + 0.2 * noise)
    return frame


def sharpness(frame):
    grey = frame.pixels.mean(0)[None, None]
    kernel = torch.tensor([[0.0, 1, 0], [1, -4, 1], [0, 1, 0]], device="cuda")[None, None]
    return float(F.conv2d(grey, kernel).var())


def merge(burst):
    """The mean of the frames, the most distant one left out."""
    stack = torch.stack([frame.pixels for frame in burst])
    middle = stack.median(dim=0).values
    away = (stack - middle).square().mean(dim=(1, 2, 3))
    kept = away.argsort()[: max(1, len(burst) - 1)]
    return stack[kept].mean(dim=0)


def main():
    torch.manual_seed(41)
    rng = random.Random(41)
    scene = F.avg_pool2d(torch.rand(3, HEIGHT + 16, WIDTH + 16), 9, 1, 4).to("cuda")
    pool, burst, album = Pool(SPARE), [], deque(maxlen=40)
    for shot in range(1, SHOTS + 1):
        burst.append(shoot(pool, scene, rng))
        if len(burst) >= rng.randint(3, 9):
            sharpest = max(burst, key=sharpness)
            album.append((sharpest, float(merge(burst).std())))
            burst.clear()
        if shot % 112 == 0:
            spread = sum(value for _, value in album) / len(album)
            print(f"shot {shot}: album {len(album)} buffers {pool.made} scrapped {pool.scrapped} spread {spread:.4f}")


main()
