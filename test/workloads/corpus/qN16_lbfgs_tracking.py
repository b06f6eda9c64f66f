"""Tracks the slowly moving parameters of a sensor model with one long-lived L-BFGS optimizer."""
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Sensor(nn.Module):
    def __init__(self, inputs=30, hidden=120):
        super().__init__()
        self.mix = nn.Linear(inputs, hidden)
        self.read = nn.Linear(hidden, 2)

    def forward(self, x):
        return self.read(torch.tanh(self.mix(x)))


class Tracker:
    def __init__(self):
        self.sensor = Sensor().to("cuda")
        self.opt = torch.optim.LBFGS(self.sensor.parameters(), lr=0.5, max_iter=4, history_size=25)
        self.average = AveragedModel(self.sensor, multi_avg_fn=get_ema_multi_avg_fn(0.9))
        self.evaluations = 0
        self.best = None

    def fit(self, x, y):
        def closure():
            self.opt.zero_grad()
            loss = nn.functional.mse_loss(self.sensor(x), y)
            loss = loss + 1e-4 * sum(p.pow(2).sum() for p in self.sensor.parameters())
            loss.backward()
            self.evaluations += 1
            return loss

        before = self.opt.step(closure)
        self.average.update_parameters(self.sensor)
        error = float(before.detach())
        if self.best is None or error < self.best[0]:
            self.best = (error, [p.detach().clone() for p in self.sensor.parameters()])
        return error


def observations(steps):
    gen = torch.Generator().manual_seed(101)
    truth = torch.randn(30, 2, generator=gen)
    for t in range(steps):
        truth = truth + 0.01 * torch.randn(30, 2, generator=gen)
        x = torch.randn(160, 30, generator=gen)
        yield x.to("cuda"), torch.sin(x @ truth * 0.3).to("cuda")


torch.manual_seed(100)
tracker = Tracker()
errors = []
for step, (x, y) in enumerate(observations(300), start=1):
    errors.append(tracker.fit(x, y))
    if step % 60 == 0:
        with torch.no_grad():
            smooth = nn.functional.mse_loss(tracker.average(x), y).item()
        mean = sum(errors[-60:]) / 60
        print(f"step {step}: error {mean:.4f} averaged {smooth:.4f} best {tracker.best[0]:.4f}")
print("evaluations", tracker.evaluations)
