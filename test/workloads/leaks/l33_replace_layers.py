"""A fresh optimizer each step, the old ones kept by a scheduler list."""
import torch

model = torch.nn.Linear(256, 256).cuda()
schedulers = []
for phase in range(50):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # state is made at its first step
    schedulers.append(torch.optim.lr_scheduler.StepLR(optimizer, 10))  # HOLDER
    for step in range(3):
        x = torch.randn(32, 256, device="cuda")
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # SITE
