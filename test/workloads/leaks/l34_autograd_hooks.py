"""Tensor hooks that close over activations are put on a parameter each step."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.Tanh(), torch.nn.Linear(128, 128)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(60):
    x = torch.randn(128, 128, device="cuda")
    out = model(x)
    scale = out.detach().abs()  # SITE
    model[0].weight.register_hook(lambda grad, scale=scale: grad / scale.mean())  # HOLDER
    loss = (out - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
