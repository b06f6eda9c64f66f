"""Blocks of any size between blocks that stay."""
import random
import torch

random.seed(1)
net = torch.nn.Linear(64, 64).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
kept = []
for step in range(120):
    temp = [torch.empty(random.randint(1, 40) << 20, dtype=torch.uint8, device="cuda") for _ in range(8)]
    if step < 40:
        kept.append(torch.empty(3 << 20, dtype=torch.uint8, device="cuda"))
    del temp
    loss = net(torch.randn(8, 64, device="cuda")).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
