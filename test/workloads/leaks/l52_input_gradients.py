"""Gradients with their graphs are summed up."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
penalty = 0
for step in range(50):
    x = torch.randn(256, 32, device="cuda", requires_grad=True)
    y = net(x).sum()  # SITE
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    penalty = penalty + g.pow(2).mean()  # HOLDER
    loss = y * 1e-3
    opt.zero_grad()
    loss.backward()
    opt.step()
