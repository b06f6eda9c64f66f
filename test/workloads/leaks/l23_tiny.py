"""One number a step."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).cuda()
opt = torch.optim.Adam(net.parameters())
curve = []
for step in range(100):
    loss = torch.nn.functional.cross_entropy(net(torch.randn(64, 256, device="cuda")), torch.randint(10, (64,), device="cuda"))  # SITE
    opt.zero_grad()
    loss.backward()
    opt.step()
    curve.append(loss.detach())  # HOLDER
