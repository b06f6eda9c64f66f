"""Twenty places that are filled again and again."""
import collections
import torch

net = torch.nn.Linear(256, 256).cuda()
opt = torch.optim.Adam(net.parameters())
recent = collections.deque(maxlen=50)
pool = {}
for step in range(160):
    x = torch.randn(128, 256, device="cuda")
    y = net(x)
    loss = (y - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    recent.append(loss.detach())
    pool[step % 20] = y.detach()
