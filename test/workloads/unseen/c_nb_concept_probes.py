# %%
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)

# %%
# frozen encoder
encoder = nn.Sequential(nn.Linear(128, 768), nn.GELU(), nn.Linear(768, 768)).to("cuda")
for p in encoder.parameters():
    p.requires_grad_(False)
inputs = torch.randn(512, 128, device="cuda")
with torch.no_grad():
    feats = encoder(inputs)

# %%
shift = nn.Parameter(torch.zeros(768, device="cuda"))
opt = torch.optim.Adam([shift], lr=1e-3)
accuracy = {}

# %%
for concept in range(45):
    direction = torch.randn(128, device="cuda")
    target = (inputs @ direction > 0).long()
    probe = nn.Sequential(
        nn.Linear(768, 256, device="cuda"),  # SITE
        nn.ReLU(),
        nn.Linear(256, 2, device="cuda"),
    )
    opt.add_param_group({"params": list(probe.parameters()), "lr": 3e-3})  # HOLDER
    for step in range(15):
        opt.zero_grad()
        loss = F.cross_entropy(probe(feats + shift), target)
        loss.backward()
        opt.step()  # SITE
    with torch.no_grad():
        accuracy[concept] = (probe(feats + shift).argmax(1) == target).float().mean().item()

# %%
mean = sum(accuracy.values()) / len(accuracy)
print(f"{len(accuracy)} concepts, mean accuracy {mean:.3f}")
