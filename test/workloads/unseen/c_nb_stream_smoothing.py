# %%
from collections import deque
import torch
import torch.nn as nn

torch.manual_seed(2)

# %%
segmenter = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(),
    nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(),
    nn.Conv2d(12, 4, 1),
).to("cuda").eval()

# %%
base = torch.rand(1, 1, 256, 256, device="cuda")
recent = deque(maxlen=8)
flips = []
previous = None

# %%
def frame(i):
    moved = torch.roll(base, shifts=(i, 2 * i), dims=(2, 3))
    return 4 * (moved - 0.5) + torch.randn_like(moved)

# %%
with torch.no_grad():
    for i in range(200):
        scores = segmenter(frame(i)).softmax(1)
        recent.append(scores)
        smooth = torch.stack(list(recent)).mean(0)
        mask = smooth.argmax(1)
        if previous is not None:
            flips.append((mask != previous).float().mean().item())
        previous = mask

# %%
print(f"frames {len(flips) + 1} mean flips {sum(flips) / len(flips):.4f}")
