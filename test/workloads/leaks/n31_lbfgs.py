"""L-BFGS keeps a history of ten steps."""
import torch

x = torch.randn(2000, device="cuda", requires_grad=True)
optimizer = torch.optim.LBFGS([x], history_size=10, max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = (x - torch.arange(2000, device="cuda").float().sin()).square().sum() + x.pow(4).sum()
    loss.backward()
    return loss


for step in range(50):
    optimizer.step(closure)
