# %% [markdown]
# FGSM robustness and the features of the third block

# %%
import torch
from torch import nn
import torch.nn.functional as F

dev = "cuda"
torch.manual_seed(2)


# %% model
def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


net = nn.Sequential(block(3, 32), block(32, 64), nn.MaxPool2d(2), block(64, 64),
                    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 10)).to(dev).eval()
for p in net.parameters():
    p.requires_grad_(False)

# %% images
x = torch.rand(96, 3, 32, 32, device=dev)
y = net(x).argmax(1)
clean_feat = net[:4](x)

# %% eps list; the next two cells are run for each value
eps_list = [k / 255 for k in range(1, 27)]
table = []

# %%
for eps in eps_list:
    feats = {}

    def grab(module, args, out, store=feats):
        store["block3"] = out.detach().clone()

    net[3].register_forward_hook(grab)

    # %% attack with random restarts
    adv = x
    worst = 1.0
    for restart in range(45):
        delta = (torch.rand_like(x) * 2 - 1) * eps
        delta.requires_grad_(True)
        loss = F.cross_entropy(net(x + delta), y)
        (grad,) = torch.autograd.grad(loss, delta)
        adv = (x + delta.detach() + eps * grad.sign()).clamp(0, 1)
        if restart % 15 == 14:
            with torch.no_grad():
                worst = min(worst, (net(adv).argmax(1) == y).float().mean().item())

    # %% distance of the features
    drift = (feats["block3"] - clean_feat).pow(2).mean().sqrt().item()
    table.append((eps, worst, drift))

# %%
for eps, worst, drift in table[-1:]:
    print(f"eps={eps:.4f} robust acc={worst:.3f} feature drift={drift:.4f}")
