"""The collector is off and called by hand every 50 steps"""
import gc
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
gc.disable()


class Node:
    pass


for step in range(240):
    node = Node()
    node.me, node.data = node, torch.randn(64, 128, device="cuda")
    x = torch.randn(64, 128, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        gc.collect()
