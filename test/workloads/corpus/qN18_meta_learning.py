"""Meta-learns initial weights and per-layer step sizes for sine regression by differentiating through inner updates."""
import torch
from torch import nn

DEVICE = "cuda"
INNER, TASKS = 4, 3


class Learner(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        sizes = [1, hidden, hidden, 1]
        self.weights = nn.ParameterList(
            [nn.Parameter(torch.randn(o, i) / i**0.5) for i, o in zip(sizes, sizes[1:])]
        )
        self.biases = nn.ParameterList([nn.Parameter(torch.zeros(o)) for o in sizes[1:]])
        self.rates = nn.Parameter(torch.full((6,), 0.02))

    def forward(self, x, fast):
        for k in range(3):
            x = x @ fast[k].T + fast[3 + k]
            x = torch.tanh(x) if k < 2 else x
        return x

    def start(self):
        return [*self.weights, *self.biases]


class Sines:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def task(self):
        amplitude, phase = 0.5 + 2 * torch.rand(1, generator=self.gen), 3 * torch.rand(1, generator=self.gen)
        x = 10 * torch.rand(40, 1, generator=self.gen) - 5
        y = amplitude * torch.sin(x + phase)
        return x.to(DEVICE), y.to(DEVICE)


def adapt(learner, x, y, history):
    fast = learner.start()
    for _ in range(INNER):
        loss = (learner(x, fast) - y).pow(2).mean()
        grads = torch.autograd.grad(loss, fast, create_graph=True)
        history.append((loss, fast))
        fast = [p - learner.rates[i] * g for i, (p, g) in enumerate(zip(fast, grads))]
    return fast


def main():
    torch.manual_seed(58)
    learner = Learner().to(DEVICE)
    opt = torch.optim.Adam(learner.parameters(), lr=1e-3)
    sines = Sines(59)
    report = []
    for step in range(1, 221):
        total, history = 0.0, []
        for _ in range(TASKS):
            x, y = sines.task()
            fast = adapt(learner, x[:15], y[:15], history)
            total = total + (learner(x[15:], fast) - y[15:]).pow(2).mean()
        penalty = sum(loss for loss, _ in history) / len(history)
        opt.zero_grad()
        (total / TASKS + 0.1 * penalty).backward()
        nn.utils.clip_grad_norm_(learner.parameters(), 5.0)
        opt.step()
        report.append(total.item() / TASKS)
        if step % 44 == 0:
            print(f"step {step}: query loss {sum(report[-44:]) / 44:.4f} rates {learner.rates.mean().item():.4f}")


main()
