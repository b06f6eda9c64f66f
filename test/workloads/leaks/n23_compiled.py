"""A compiled model."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.Linear(256, 256)).cuda()
fast = torch.compile(net)
opt = torch.optim.AdamW(net.parameters())
for step in range(80):
    x = torch.randn(64, 256, device="cuda")
    loss = (fast(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
