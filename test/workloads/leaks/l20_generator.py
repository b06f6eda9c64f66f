"""Generators that were left half way keep their variables."""
import torch

net = torch.nn.Linear(256, 256).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def batches():
    while True:
        x = torch.randn(256, 256, device="cuda")  # SITE
        yield x


alive = []
for step in range(60):
    source = batches()
    x = next(source)
    alive.append(source)  # HOLDER
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
