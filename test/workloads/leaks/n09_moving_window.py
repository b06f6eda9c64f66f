"""The last eight are kept."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

window = []
for step in range(120):
    x = torch.randn(256, 256, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    window.append(loss.detach() + x)
    if len(window) > 8:
        window.pop(0)
