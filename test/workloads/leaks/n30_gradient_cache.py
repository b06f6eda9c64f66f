"""Gradients of eight micro batches are kept, then summed."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    parts = []
    for micro in range(8):
        loss = model(torch.randn(16, 64, device="cuda")).square().mean()
        parts.append(torch.autograd.grad(loss, list(model.parameters())))
    optimizer.zero_grad()
    for parameter, *grads in zip(model.parameters(), *parts):
        parameter.grad = torch.stack(grads).mean(0)
    optimizer.step()
