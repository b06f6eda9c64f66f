"""Second-order MAML on sine curves with a meta-validation every 20 iterations.
Report: https://github.com/tristandeleu/pytorch-maml/issues/21
Class: create_graph
"""
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


class SineTasks:
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def sample(self, shots=10):
        amplitude = 0.1 + 4.9 * torch.rand(1, generator=self.generator)
        phase = 3.14 * torch.rand(1, generator=self.generator)
        x = 10 * torch.rand(2 * shots, 1, generator=self.generator) - 5
        y = amplitude * torch.sin(x + phase)
        return (x[:shots].to("cuda"), y[:shots].to("cuda")), (x[shots:].to("cuda"), y[shots:].to("cuda"))


def inner_loop(model, support, steps, lr):
    x, y = support
    weights = dict(model.named_parameters())
    for _ in range(steps):
        loss = F.mse_loss(functional_call(model, weights, (x,)), y)
        grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
        weights = {k: w - lr * g for (k, w), g in zip(weights.items(), grads)}
    return weights


def validate(model, tasks, count=5):
    losses = []
    for _ in range(count):
        clone = copy.deepcopy(model)
        (x, y), (qx, qy) = tasks.sample()
        optimizer = torch.optim.SGD(clone.parameters(), lr=0.01)
        for _ in range(5):
            optimizer.zero_grad()
            F.mse_loss(clone(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            losses.append(F.mse_loss(clone(qx), qy).item())
    return sum(losses) / count


def main():
    torch.manual_seed(137)
    model = nn.Sequential(nn.Linear(1, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 1)).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    train_tasks = SineTasks(1)
    for iteration in range(100):
        optimizer.zero_grad()
        for _ in range(4):
            support, (qx, qy) = train_tasks.sample()
            weights = inner_loop(model, support, steps=3, lr=0.01)
            (F.mse_loss(functional_call(model, weights, (qx,)), qy) / 4).backward()
        optimizer.step()
        if iteration % 20 == 0:
            print(f"iteration {iteration}: validation {validate(model, SineTasks(2)):.3f}")


if __name__ == "__main__":
    main()
