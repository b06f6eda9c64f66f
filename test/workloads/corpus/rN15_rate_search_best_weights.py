"""Stages of training with accelerate: a search for the rate puts the weights back, early stopping keeps the best ones.
Report: https://github.com/davidtvs/pytorch-lr-finder/pull/1
Class: best-weights
"""
import torch
from accelerate import Accelerator
from torch import nn

STAGES, TRIES, MOST, PATIENCE, FEATURES = 18, 10, 24, 4, 72


class Weights:
    """A copy of the weights on the device, overwritten where one is there already."""

    def __init__(self):
        self.copy = None

    def keep(self, net):
        if self.copy is None:
            self.copy = {name: value.clone() for name, value in net.state_dict().items()}
        else:
            for name, value in net.state_dict().items():
                self.copy[name].copy_(value)

    def restore(self, net):
        net.load_state_dict(self.copy)


class Best:
    def __init__(self, patience):
        self.patience = patience
        self.value, self.weights, self.bad = float("inf"), None, 0

    def better(self, value, net):
        if value < self.value - 1e-4:
            self.value, self.bad = value, 0
            self.weights = [p.detach().clone() for p in net.parameters()]
            return True
        self.bad += 1
        return self.bad < self.patience

    def put_back(self, net):
        with torch.no_grad():
            for p, best in zip(net.parameters(), self.weights):
                p.copy_(best)


def batch(stage, number, size=160):
    gen = torch.Generator().manual_seed(1000 * stage + number)
    x = torch.randn(size, FEATURES, generator=gen)
    y = (x[:, :3] * (1 + 0.2 * stage)).sin().sum(1, keepdim=True) + 0.1 * torch.randn(size, 1, generator=gen)
    return x.to("cuda"), y.to("cuda")


def step(accelerator, net, optimizer, x, y):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    return loss.item()


def search(accelerator, net, stage):
    before, curve = Weights(), []
    before.keep(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    for number in range(TRIES):
        rate = 1e-4 * 10 ** (3 * number / (TRIES - 1))
        optimizer.param_groups[0]["lr"] = rate
        curve.append((step(accelerator, net, optimizer, *batch(stage, number)), rate))
    before.restore(net)
    return min(curve)[1] / 4


def main():
    torch.manual_seed(68)
    accelerator = Accelerator()
    net = nn.Sequential(
        nn.Linear(FEATURES, 448), nn.SiLU(), nn.Linear(448, 448), nn.SiLU(), nn.Linear(448, 448), nn.SiLU(),
        nn.Linear(448, 1),
    ).to("cuda")
    net = accelerator.prepare(net)
    for stage in range(STAGES):
        rate = search(accelerator, net, stage)
        optimizer, best = torch.optim.Adam(net.parameters(), lr=rate), Best(PATIENCE)
        for number in range(MOST):
            step(accelerator, net, optimizer, *batch(stage, 100 + number))
            with torch.no_grad():
                x, y = batch(stage, 900, size=400)
                error = nn.functional.mse_loss(net(x), y).item()
            if not best.better(error, net):
                break
        best.put_back(net)
        if stage % 6 == 5:
            print(f"stage {stage + 1}: rate {rate:.1e} stopped after {number + 1} steps, best error {best.value:.4f}")


main()
