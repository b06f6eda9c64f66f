"""Adapters are made when their task comes for the first time, eight tasks in all."""
import torch

base = torch.nn.Linear(128, 128).cuda()
adapters = torch.nn.ModuleDict()
optimizers = {}
for step in range(120):
    task = f"task{min(step // 8, 7)}" if step < 64 else f"task{step % 8}"
    if task not in adapters:
        adapters[task] = torch.nn.Linear(128, 128).cuda()
        optimizers[task] = torch.optim.Adam(adapters[task].parameters())
    x = torch.randn(64, 128, device="cuda")
    loss = adapters[task](base(x)).square().mean()
    optimizers[task].zero_grad()
    loss.backward()
    optimizers[task].step()
