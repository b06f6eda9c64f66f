"""Fit an image with splatted points; every few steps faint points are moved to where the error is."""
import torch
from torch import nn

DEV = "cuda"
POINTS, SIDE, STEPS, EVERY = 60_000, 256, 900, 8


class Points:
    def __init__(self):
        init = {"xy": torch.rand(POINTS, 2, device=DEV) * (SIDE - 2), "rgb": torch.rand(POINTS, 3, device=DEV),
                "alpha": torch.full((POINTS, 1), -1.0, device=DEV)}
        rates = {"xy": 0.05, "rgb": 0.02, "alpha": 0.02}
        self.opt = torch.optim.Adam([{"params": [nn.Parameter(v)], "lr": rates[k], "name": k} for k, v in init.items()],
                                    eps=1e-15)

    def get(self, name):
        return next(g["params"][0] for g in self.opt.param_groups if g["name"] == name)

    def render(self):
        xy, rgb, alpha = self.get("xy"), self.get("rgb"), torch.sigmoid(self.get("alpha"))
        xy = xy.clamp(0, SIDE - 1.01)
        cell = xy.detach().floor()
        frac = xy - cell
        cell = cell.long()
        image = torch.zeros(SIDE * SIDE, 3, device=DEV)
        weight = torch.full((SIDE * SIDE, 1), 1e-3, device=DEV)
        for dx in (0, 1):
            for dy in (0, 1):
                wx = frac[:, :1] if dx else 1 - frac[:, :1]
                wy = frac[:, 1:] if dy else 1 - frac[:, 1:]
                where = (cell[:, 1] + dy) * SIDE + cell[:, 0] + dx
                w = wx * wy * alpha
                image = image.index_add(0, where, rgb * w)
                weight = weight.index_add(0, where, w)
        return image / weight

    def swap(self, name, rows, fresh):
        for group in self.opt.param_groups:
            if group["name"] != name:
                continue
            old = group["params"][0]
            new = nn.Parameter(torch.cat([old.detach()[rows], fresh]))
            state = dict(self.opt.state[old])
            for key in ("exp_avg", "exp_avg_sq"):
                state[key] = torch.cat([state[key][rows], torch.zeros_like(fresh)])
            self.opt.state[new] = state
            group["params"][0] = new

    def densify(self, error):
        order = self.get("alpha").detach().squeeze(1).argsort()
        cut = POINTS // 20
        rows = order[cut:]
        spots = torch.multinomial(error + 1e-6, cut, replacement=True)
        xy = torch.stack([spots % SIDE, spots // SIDE], 1).float() + torch.rand(cut, 2, device=DEV)
        self.swap("xy", rows, xy)
        self.swap("rgb", rows, torch.full((cut, 3), 0.5, device=DEV))
        self.swap("alpha", rows, torch.full((cut, 1), -1.0, device=DEV))


torch.manual_seed(9)
g = torch.linspace(0, 12, SIDE, device=DEV)
target = torch.stack([torch.sin(g[:, None] + g), torch.cos(g[:, None] * g / 4), torch.sin(g[:, None] - 2 * g)], -1)
target = target.view(-1, 3) * 0.5 + 0.5
points = Points()
for step in range(STEPS):
    residual = points.render() - target
    loss = residual.square().mean()
    loss.backward()
    points.opt.step()
    points.opt.zero_grad(set_to_none=True)
    if step % EVERY == EVERY - 1:
        points.densify(residual.detach().abs().mean(1))
print(f"splat: mse {loss.item():.5f}")
