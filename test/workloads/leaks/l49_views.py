"""A row of each batch is kept, and with it the whole batch."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
rows = []
for step in range(60):
    x = torch.randn(64, 128, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    rows.append(out.detach()[:1])  # HOLDER
