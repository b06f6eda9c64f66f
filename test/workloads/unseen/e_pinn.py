"""Physics-informed network for the Burgers equation: Adam first, then L-BFGS."""
import math

import torch
from torch import nn

DEV = "cuda"
NU = 0.01 / math.pi
ADAM_STEPS, LBFGS_STEPS = 250, 90


class PINN(nn.Module):
    def __init__(self, width=320, depth=4):
        super().__init__()
        dims = [2] + [width] * depth + [1]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))

    def forward(self, tx):
        h = tx
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h)


class Burgers:
    def __init__(self, n):
        self.inside = torch.rand(n, 2, device=DEV)
        self.inside[:, 1] = self.inside[:, 1] * 2 - 1
        self.inside.requires_grad_(True)
        x0 = torch.linspace(-1, 1, 256, device=DEV)
        self.start = torch.stack([torch.zeros_like(x0), x0], 1)
        self.start_u = -torch.sin(math.pi * x0).unsqueeze(1)
        t = torch.linspace(0, 1, 128, device=DEV)
        self.edges = torch.cat([torch.stack([t, torch.full_like(t, s)], 1) for s in (-1.0, 1.0)])

    def loss(self, net):
        u = net(self.inside)
        du = torch.autograd.grad(u.sum(), self.inside, create_graph=True)[0]
        u_t, u_x = du[:, :1], du[:, 1:]
        u_xx = torch.autograd.grad(u_x.sum(), self.inside, create_graph=True)[0][:, 1:]
        residual = u_t + u * u_x - NU * u_xx
        initial = net(self.start) - self.start_u
        return residual.square().mean() + 10 * initial.square().mean() + net(self.edges).square().mean()


def main():
    torch.manual_seed(7)
    net, task = PINN().to(DEV), Burgers(2048)
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(ADAM_STEPS):
        adam.zero_grad()
        loss = task.loss(net)
        loss.backward(inputs=list(net.parameters()))
        adam.step()
    first = loss.item()
    lbfgs = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=4, max_eval=12, history_size=40, tolerance_change=0.0,
                              tolerance_grad=0.0, line_search_fn="strong_wolfe")

    def closure():
        lbfgs.zero_grad()
        value = task.loss(net)
        value.backward(inputs=list(net.parameters()))
        return value

    for _ in range(LBFGS_STEPS):
        value = lbfgs.step(closure)
    print(f"burgers: adam {first:.5f} l-bfgs {value.item():.5f}")


main()
