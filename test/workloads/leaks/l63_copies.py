"""A copy of the model is kept after each tenth step."""
import copy
import torch

net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).cuda()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
best = []
for step in range(100):
    x = torch.randn(64, 256, device="cuda")
    loss = torch.nn.functional.cross_entropy(net(x), torch.randint(0, 10, (64,), device="cuda"))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        best.append((loss.item(), copy.deepcopy(net)))  # SITE HOLDER
