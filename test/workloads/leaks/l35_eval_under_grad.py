"""Validation without no_grad, its outputs kept over all epochs."""
import torch

net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64)).cuda()
optimizer = torch.optim.AdamW(net.parameters())
history = {"val": []}


def validate():
    outputs = []
    for batch in range(4):
        x = torch.randn(64, 64, device="cuda")
        outputs.append(net(x))  # SITE
    return torch.cat(outputs)


for epoch in range(15):
    for step in range(8):
        x = torch.randn(64, 64, device="cuda")
        loss = (net(x) - x).square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    history["val"].append(validate())  # HOLDER
