"""Penalties with the graph of a gradient are kept."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.Tanh(), torch.nn.Linear(512, 1)).cuda()
opt = torch.optim.Adam(net.parameters())
penalties = []


def penalty(x):
    out = net(x).sum()
    (grad,) = torch.autograd.grad(out, x, create_graph=True)  # SITE
    return (grad.norm(dim=1) - 1).pow(2).mean()


for step in range(60):
    x = torch.randn(128, 256, device="cuda", requires_grad=True)
    p = penalty(x)
    opt.zero_grad()
    p.backward(retain_graph=True)
    opt.step()
    penalties.append(p)  # HOLDER
