"""Every step's gradients are kept."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

history = []
for step in range(60):
    x = torch.randn(256, 256, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    history.append([p.grad.clone() for p in model.parameters()])  # SITE HOLDER
    optimizer.step()
