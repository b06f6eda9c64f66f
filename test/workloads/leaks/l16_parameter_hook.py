"""Hooks of parameters keep their gradients."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
opt = torch.optim.Adam(net.parameters())
grads = {}


def watch(name, parameter):
    grads[name] = []
    parameter.register_hook(lambda g: grads[name].append(g.detach().clone()))  # SITE HOLDER


for name, parameter in net.named_parameters():
    if name.endswith("weight"):
        watch(name, parameter)
for step in range(60):
    x = torch.randn(128, 256, device="cuda")
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
