"""Looks for the biggest batch that fits: each size gets a few steps, then a bigger one."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.Adam(model.parameters())


def train_step(batch):
    loss = (model(batch) - batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for size in [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]:
    for _ in range(5):
        batch = torch.randn(size, 256, device="cuda")
        value = train_step(batch)
    print("batch", size, "fits", round(value, 3))
