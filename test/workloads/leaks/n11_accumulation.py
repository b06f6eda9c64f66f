"""Gradients of eight batches a step."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)).cuda()
opt = torch.optim.AdamW(net.parameters())
for micro in range(400):
    x = torch.randn(64, 256, device="cuda")
    loss = (net(x) - x).pow(2).mean() / 8
    loss.backward()
    if micro % 8 == 7:
        opt.step()
        opt.zero_grad(set_to_none=True)
