"""Mixed precision with an average of the weights."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

scaler = torch.amp.GradScaler("cuda")
average = [p.detach().clone() for p in model.parameters()]
for step in range(80):
    x = torch.randn(256, 256, device="cuda")
    with torch.autocast("cuda"):
        loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    with torch.no_grad():
        for mean, p in zip(average, model.parameters()):
            mean.lerp_(p, 0.1)
