"""Inputs that get longer and longer."""
import torch

net = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2).cuda()
opt = torch.optim.AdamW(net.parameters())
for step in range(120):
    x = torch.randn(8, 16 + step, 64, device="cuda")
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
