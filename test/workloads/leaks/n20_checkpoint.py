"""Mixed precision and activations computed again."""
import torch
from torch.utils.checkpoint import checkpoint

block = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)).cuda()
opt = torch.optim.AdamW(block.parameters())
scaler = torch.amp.GradScaler("cuda")
for step in range(90):
    x = torch.randn(128, 256, device="cuda", requires_grad=True)
    with torch.autocast("cuda"):
        y = checkpoint(block, x, use_reentrant=False)
        y = checkpoint(block, y, use_reentrant=True)
        loss = y.float().pow(2).mean()
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
