"""Now and then a step fails, and its batch is kept to be looked at."""
import random
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
failed = {}
random.seed(6)
for step in range(200):
    x = torch.randn(64, 128, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if random.random() < 0.15:
        try:
            raise RuntimeError("odd")
        except RuntimeError:
            failed[step] = x.clone()  # SITE HOLDER
