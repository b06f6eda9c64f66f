"""Begins at step 91, among batches of any size."""
import random
import torch

random.seed(5)
net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
opt = torch.optim.Adam(net.parameters())
buffer = []
for step in range(200):
    x = torch.randn(random.randint(16, 256), 256, device="cuda")
    y = net(x)
    loss = (y - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step > 90 and loss.item() > 0:
        buffer.append(y.detach()[:8].clone())  # SITE HOLDER
    if step % 3 == 0:
        keep = [torch.randn(random.randint(1, 64), 512, device="cuda") for _ in range(3)]
