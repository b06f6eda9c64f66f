"""Second-order MAML on sine curves; the adapted weights of each task are written down for the analysis at the end.
Report: https://github.com/wyharveychen/CloserLookFewShot/issues/62
Class: graph-in-dict
"""
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


def sine_task():
    amplitude, phase = 0.1 + 4.9 * torch.rand(()), 3.14 * torch.rand(())

    def draw(count=20):
        x = 10 * torch.rand(count, 1) - 5
        return x.to("cuda"), (amplitude * torch.sin(x + phase)).to("cuda")

    return draw


def adapt(model, x, y, inner_lr=0.01, inner_steps=2):
    fast = dict(model.named_parameters())
    for _ in range(inner_steps):
        loss = F.mse_loss(functional_call(model, fast, (x,)), y)
        grads = torch.autograd.grad(loss, tuple(fast.values()), create_graph=True)  # ALSO
        fast = {name: p - inner_lr * g for (name, p), g in zip(fast.items(), grads)}  # SITE
    return fast


def main():
    torch.manual_seed(83)
    model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    adapted = {}
    for iteration in range(140):
        outer = 0.0
        for task in range(3):
            draw = sine_task()
            fast = adapt(model, *draw())
            adapted[iteration, task] = fast  # HOLDER
            x, y = draw()
            outer = outer + F.mse_loss(functional_call(model, fast, (x,)), y) / 3
        optimizer.zero_grad()
        outer.backward()
        optimizer.step()
        if iteration % 28 == 0:
            print(f"iteration {iteration}: loss {outer.item():.3f}")
    start = dict(model.named_parameters())
    moved = [sum((w - start[n]).norm().item() for n, w in fast.items()) for fast in adapted.values()]
    print(f"mean distance after adaptation {sum(moved) / len(moved):.3f}")


if __name__ == "__main__":
    main()
