"""Totals of losses as numbers, and a list of numbers."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
total, curve = 0.0, []
for step in range(100):
    loss = net(torch.randn(128, 256, device="cuda")).logsumexp(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    curve.append(loss.detach().cpu())
print(total, len(curve))
