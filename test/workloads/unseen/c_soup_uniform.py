"""Uniform soup: average the weights of many short runs while they are produced."""
import os
import tempfile
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(27)
MEMBERS = 36

x = torch.randn(896, 144, device="cuda")
y = (x @ torch.randn(144, 6, device="cuda") + 2 * torch.randn(896, 6, device="cuda")).argmax(1)
xt, yt, xv, yv = x[:640], y[:640], x[640:], y[640:]


def build():
    return nn.Sequential(nn.Linear(144, 512), nn.GELU(), nn.Linear(512, 384), nn.GELU(), nn.Linear(384, 6)).to("cuda")


def finetune(model, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(10):
        idx = torch.randint(0, len(xt), (96,), device="cuda")
        opt.zero_grad()
        F.cross_entropy(model(xt[idx]), yt[idx]).backward()
        opt.step()


folder = tempfile.TemporaryDirectory()
origin = os.path.join(folder.name, "origin.pt")
torch.save(build().state_dict(), origin)

soup = {}
member_losses = []
for m in range(MEMBERS):
    model = build()
    model.load_state_dict(torch.load(origin, map_location="cuda"))
    finetune(model, lr=3e-4 * (1 + m % 4))
    state = model.state_dict()
    for name, value in state.items():
        if name in soup:
            soup[name].add_((value - soup[name]) / (m + 1))
        else:
            soup[name] = value.clone()
    with torch.no_grad():
        member_losses.append(F.cross_entropy(model(xv), yv).item())

final = build()
final.load_state_dict(soup)
with torch.no_grad():
    soup_loss = F.cross_entropy(final(xv), yv).item()
print(f"members {sum(member_losses) / MEMBERS:.4f} soup {soup_loss:.4f}")
folder.cleanup()
