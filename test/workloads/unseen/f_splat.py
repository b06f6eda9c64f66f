"""Fit an image with 2-D Gaussians; a callback re-distributes the weak ones."""
import torch
from torch import nn


class Callback:
    def on_step_end(self, trainer):
        pass


class Resample(Callback):
    """Replace the faintest points by copies of strong ones."""

    def __init__(self, every):
        self.every = every

    def on_step_end(self, tr):
        if tr.step % self.every:
            return
        group = tr.opt.param_groups[0]
        old = group["params"][0]
        order = old.detach()[:, 7].argsort(descending=True)
        n, m = len(order), len(order) // 20
        idx = torch.cat([order[:n - m], order[:m]])
        stats = tr.opt.state[old]
        new = nn.Parameter(old.detach()[idx] + 0.002 * torch.randn_like(old))
        moved = {"step": stats["step"].clone()}
        for key in ("exp_avg", "exp_avg_sq"):
            moved[key] = stats[key][idx]
        tr.opt.state[new] = moved
        group["params"][0] = new
        tr.points = new


class ConsoleLogger(Callback):
    def __init__(self):
        self.rows = []

    def on_step_end(self, tr):
        if tr.step % 100 == 0:
            self.rows.append(round(tr.last.item(), 5))


class Trainer:
    def __init__(self, n, device, callbacks):
        p = torch.rand(n, 8, device=device)
        p[:, 2:4] = -3.5
        self.points = nn.Parameter(p)
        self.opt = torch.optim.Adam([{"params": [self.points]}], lr=4e-3)
        self.callbacks, self.step, self.device = callbacks, 0, device

    def render(self, xy):
        p = self.points
        d = (xy[:, None] - p[None, :, :2]) * (-p[:, 2:4]).exp()
        w = (-0.5 * d.pow(2).sum(-1)).exp() * p[:, 7].sigmoid()
        return w @ p[:, 4:7] / (w.sum(1, keepdim=True) + 1e-4)

    def fit(self, target, steps):
        for self.step in range(1, steps + 1):
            xy = torch.rand(96, 2, device=self.device)
            loss = (self.render(xy) - target(xy)).pow(2).mean()
            loss.backward()
            self.opt.step()
            self.opt.zero_grad()
            self.last = loss.detach()
            for cb in self.callbacks:
                cb.on_step_end(self)


def picture(xy):
    x, y = xy[:, :1], xy[:, 1:]
    return torch.cat([(9 * x).sin() * y, (7 * y).cos(), x * y], 1) * 0.5 + 0.5


if __name__ == "__main__":
    torch.manual_seed(0)
    log = ConsoleLogger()
    trainer = Trainer(24000, "cuda", [Resample(every=8), log])
    trainer.fit(picture, 1800)
    print("mse", log.rows[0], "->", log.rows[-1])
