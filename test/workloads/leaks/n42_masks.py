"""Masks by length, 40 lengths drawn at random."""
import random
import torch

random.seed(3)
masks = {}
net = torch.nn.Linear(64, 64).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(200):
    n = random.randint(1, 25) * 8
    if n not in masks:
        masks[n] = torch.ones(n, n, device="cuda").tril()
    loss = (masks[n] @ net(torch.randn(n, 64, device="cuda"))).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
