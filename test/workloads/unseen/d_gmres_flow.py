"""Implicit advection-diffusion in time; every step is solved by restarted GMRES."""
import torch

DEVICE = "cuda"
TIME_STEPS = 20
N = 1024
RESTART = 36
CYCLES = 6
DT = 4.0


def velocity():
    y = torch.linspace(-1, 1, N, device=DEVICE)
    return 40 * y[:, None].expand(N, N), -40 * y[None, :].expand(N, N)


class Operator:
    def __init__(self):
        self.vx, self.vy = velocity()

    def __call__(self, flat):
        u = flat.view(N, N)
        east, west = u.roll(-1, 1), u.roll(1, 1)
        north, south = u.roll(-1, 0), u.roll(1, 0)
        diffusion = east + west + north + south - 4 * u
        advection = self.vx * (east - west) + self.vy * (north - south)
        return (u - DT * (2.0 * diffusion - 0.05 * advection)).flatten()


def gmres(apply, rhs, guess):
    x = guess
    for _ in range(CYCLES):
        r = rhs - apply(x)
        beta = r.norm()
        basis = [r / beta]
        h = torch.zeros(RESTART + 1, RESTART, device=DEVICE)
        for j in range(RESTART):
            w = apply(basis[j])
            for i, q in enumerate(basis):
                h[i, j] = torch.dot(q, w)
                w = w - h[i, j] * q
            h[j + 1, j] = w.norm()
            basis.append(w / h[j + 1, j])
        e = torch.zeros(RESTART + 1, 1, dtype=torch.float64)
        e[0] = beta.item()
        y = torch.linalg.lstsq(h.double().cpu(), e).solution.squeeze(1).tolist()
        x = x + sum(c * q for c, q in zip(y, basis))
        residual = (rhs - apply(x)).norm() / rhs.norm()
    return x, residual.item()


def main():
    operator = Operator()
    grid = torch.linspace(-1, 1, N, device=DEVICE)
    u = torch.exp(-40 * ((grid[:, None] - 0.3) ** 2 + grid[None, :] ** 2)).flatten()
    mass = u.sum().item()
    residuals = []
    for _ in range(TIME_STEPS):
        u, residual = gmres(operator, u, u)
        residuals.append(residual)
    print(f"{TIME_STEPS} steps, worst residual {max(residuals):.2e}, "
          f"mass change {u.sum().item() / mass - 1:+.2e}, peak {u.max().item():.4f}")


main()
