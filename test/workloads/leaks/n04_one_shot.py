"""One big table in mid-run."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

for step in range(80):
    x = torch.randn(256, 256, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 40:
        table = torch.randn(64, 1024, 1024, device="cuda")
print(table.shape)
