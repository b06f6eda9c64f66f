# %%
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
Out = {}
cell = 0

# %%
backbone = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(),
    nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(32, 32, 3, stride=2, padding=1),
).cuda().eval()
images = torch.rand(16, 3, 64, 64, device="cuda")

# %%
def brighten(batch, gain, bias):
    return (batch * gain + bias).clamp(0, 1)

# %%
with torch.no_grad():
    reference = backbone(images)

# %%
# main cell, shift-enter
for gain_step in range(9):
    for bias_step in range(10):
        cell += 1
        gain = 0.6 + 0.1 * gain_step
        bias = -0.2 + 0.04 * bias_step
        with torch.no_grad():
            feats = backbone(brighten(images, gain, bias))
            feats = F.normalize(feats, dim=1)  # SITE
        Out[cell] = feats  # HOLDER
        drift = (feats - F.normalize(reference, dim=1)).pow(2).sum(1).mean().item()
        if cell == 1 or drift < closest[0]:
            closest = (drift, gain, bias)

# %%
print(f"closest drift {closest[0]:.5f} gain {closest[1]:.2f} bias {closest[2]:.2f} after {cell} cells")
