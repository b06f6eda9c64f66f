"""Every epoch's weights are kept on the GPU."""
import copy
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
best = []
for epoch in range(20):
    for step in range(10):
        x = torch.randn(64, 256, device="cuda")
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best.append((epoch, {k: v.clone() for k, v in model.state_dict().items()}))  # SITE HOLDER
