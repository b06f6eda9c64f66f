"""Checkpointed blocks whose outputs are kept with their graphs."""
import torch
from torch.utils.checkpoint import checkpoint

blocks = torch.nn.ModuleList([torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.GELU()) for _ in range(3)]).cuda()
opt = torch.optim.Adam(blocks.parameters())
kept = []
for step in range(60):
    x = torch.randn(64, 128, device="cuda")
    h = x
    for block in blocks:
        h = checkpoint(block, h, use_reentrant=False)  # SITE
    loss = (h - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    kept.append(h)  # HOLDER
