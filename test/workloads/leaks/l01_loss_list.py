"""Losses kept with their graphs."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

losses = []
for step in range(60):
    x = torch.randn(256, 256, device="cuda")
    out = model(x)  # SITE
    loss = (out - x).square().mean()
    losses.append(loss)  # HOLDER
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
print(len(losses))
