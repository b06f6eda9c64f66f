"""Mean, spread and dead fraction of every hidden layer over a stream of batches."""
from collections import defaultdict
import torch
import torch.nn as nn

torch.manual_seed(9)

WIDTH = 512
model = nn.Sequential(
    nn.Linear(96, WIDTH), nn.ReLU(),
    nn.Linear(WIDTH, WIDTH), nn.ReLU(),
    nn.Linear(WIDTH, WIDTH), nn.ReLU(),
    nn.Linear(WIDTH, 20),
).cuda().eval()

recorded = defaultdict(list)


def recorder(name):
    def hook(module, args, output):
        recorded[name].append(output)  # HOLDER
    return hook


for name, module in model.named_modules():
    if isinstance(module, nn.ReLU):
        module.register_forward_hook(recorder(name))

sums = defaultdict(lambda: [0.0, 0.0, 0.0])
batches = 100
with torch.no_grad():
    for b in range(batches):
        x = torch.randn(256, 96, device="cuda") * (1 + b / batches)
        model(x)  # SITE
        for name, outs in recorded.items():
            a = outs[-1]
            s = sums[name]
            s[0] += a.mean().item()
            s[1] += a.std().item()
            s[2] += (a.max(0).values == 0).float().mean().item()

parts = [f"{n}: {s[0] / batches:.3f}/{s[1] / batches:.3f}/{s[2] / batches:.3f}" for n, s in sums.items()]
print("mean/std/dead", "; ".join(parts))
