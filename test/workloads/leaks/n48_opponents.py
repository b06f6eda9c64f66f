"""A pool of 30 opponents; each step one is replaced by chance once it is full."""
import copy
import random
import torch

random.seed(1)
pool = []
net = torch.nn.Linear(128, 128).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(150):
    x = torch.randn(32, 128, device="cuda")
    other = random.choice(pool)(x) if pool else x
    loss = (net(x) - other.detach()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 2 == 0:
        snapshot = copy.deepcopy(net)
        if len(pool) < 30:
            pool.append(snapshot)
        else:
            pool[random.randrange(30)] = snapshot
