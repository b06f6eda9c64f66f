"""Pinned host memory: each step's batch stays."""
import torch

net = torch.nn.Linear(512, 512).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
batches = []
for step in range(60):
    host = torch.randn(256, 512).pin_memory()  # SITE
    batches.append(host)  # HOLDER
    loss = net(host.to("cuda", non_blocking=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
