"""One tensor that grows at one line."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

table = torch.empty(0, 256, device="cuda")
for step in range(60):
    x = torch.randn(256, 256, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    table = torch.cat([table, x])  # SITE HOLDER
