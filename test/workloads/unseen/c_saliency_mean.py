"""Class-averaged gradient-times-input maps with a smoothness score."""
import torch
import torch.nn as nn

torch.manual_seed(12)

model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.Softplus(),
    nn.Conv2d(16, 16, 3, stride=2, padding=1), nn.Softplus(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(),
    nn.Linear(256, 8),
).to("cuda")
model.requires_grad_(False)

NUM = 80
mean_map = torch.zeros(3, 32, 32, device="cuda")
roughness = []


def total_variation(m):
    return (m[:, 1:] - m[:, :-1]).abs().mean() + (m[:, :, 1:] - m[:, :, :-1]).abs().mean()


for i in range(NUM):
    batch = torch.randn(8, 3, 32, 32, device="cuda")
    batch.requires_grad_(True)
    scores = model(batch)  # SITE
    picked = scores[:, i % 8].sum()
    (grad,) = torch.autograd.grad(picked, batch, create_graph=True)  # SITE
    attribution = (grad * batch).mean(0)
    mean_map = mean_map + (attribution - mean_map) / (i + 1)  # HOLDER
    roughness.append(total_variation(mean_map).item())

peak = mean_map.abs().flatten().argmax().item()
print(f"maps {NUM} peak index {peak} roughness {roughness[0]:.5f} -> {roughness[-1]:.5f}")
