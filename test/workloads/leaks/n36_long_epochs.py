"""An evaluation every 40 steps collects its outputs and lets them go"""
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(220):
    if step % 40 == 39:
        with torch.no_grad():
            outputs = [model(torch.randn(64, 128, device="cuda")) for _ in range(20)]
            score = torch.cat(outputs).mean().item()
        del outputs
    x = torch.randn(64, 128, device="cuda")
    out = model(x)
    loss = (out - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
