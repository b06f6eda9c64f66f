"""Image pipeline: warped views of each picture, blurred and reduced to a small descriptor."""
import math
import random
import time
from functools import lru_cache

import torch
import torch.nn.functional as F

torch.manual_seed(4)
rng = random.Random(4)
SIZE = 384


@lru_cache(maxsize=None)  # HOLDER
def warp_grid(angle, scale, size):
    c, s = math.cos(angle) * scale, math.sin(angle) * scale
    theta = torch.tensor([[[c, -s, 0.0], [s, c, 0.0]]], device="cuda")
    return F.affine_grid(theta, (1, 3, size, size), align_corners=False)  # SITE


@lru_cache(maxsize=None)
def blur_kernel(radius):
    t = torch.arange(-radius, radius + 1, dtype=torch.float32, device="cuda")
    g = torch.exp(-0.5 * (t / (radius / 2)) ** 2)
    g = g / g.sum()
    return (g[:, None] * g[None, :]).expand(3, 1, -1, -1).contiguous()


def load_image(index):
    time.sleep(0.03)
    gen = torch.Generator().manual_seed(index)
    return torch.rand(1, 3, SIZE, SIZE, generator=gen)


def view(image):
    angle = rng.uniform(-0.4, 0.4)
    scale = rng.uniform(0.8, 1.2)
    grid = warp_grid(angle, scale, SIZE)  # HOLDER
    warped = F.grid_sample(image, grid, align_corners=False, padding_mode="border")
    kernel = blur_kernel(rng.choice([1, 2, 3]))
    return F.conv2d(warped, kernel, padding=kernel.shape[-1] // 2, groups=3)


def main():
    total = torch.zeros(3 * 8 * 8)
    for batch in range(25):
        for item in range(4):
            image = load_image(batch * 4 + item).to("cuda")
            small = F.adaptive_avg_pool2d(view(image), 8)
            total += small.flatten().cpu()
    print(f"descriptor mean {total.mean().item() / 100:.5f}")


if __name__ == "__main__":
    main()
