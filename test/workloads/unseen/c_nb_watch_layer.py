# %% [markdown]
# Looking at how sparse the second block is for different input scales

# %%
import torch
import torch.nn as nn

torch.manual_seed(3)
net = nn.Sequential(
    nn.Linear(256, 512), nn.GELU(),
    nn.Linear(512, 512), nn.ReLU(),
    nn.Linear(512, 64),
).to("cuda")
for p in net.parameters():
    p.requires_grad_(False)

# %%
def watch(layer, tag):
    bucket = {}

    def grab(module, inputs, output):
        bucket[tag] = output.detach().clone()  # SITE HOLDER

    layer.register_forward_hook(grab)  # HOLDER
    return bucket

# %%
scales = [0.1 * (i + 1) for i in range(14)]
table = []

# %%
# re-run for every scale
for scale in scales:
    seen = watch(net[3], "relu")
    zeros = 0.0
    for b in range(12):
        x = scale * torch.randn(1024, 256, device="cuda")
        net(x)
        zeros += (seen["relu"] == 0).float().mean().item()
    table.append((scale, zeros / 12))

# %%
print("sparsity", " ".join(f"{s:.1f}:{z:.3f}" for s, z in table))
