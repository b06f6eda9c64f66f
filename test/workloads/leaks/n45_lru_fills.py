"""Encodings by length in a cache of 64, of which 50 come."""
import functools
import torch


@functools.lru_cache(maxsize=64)
def positions(n):
    return torch.randn(n, 128, device="cuda")


net = torch.nn.Linear(128, 128).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(100):
    x = positions(8 + step // 2)
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
