"""Lowest eigenpairs of a 2-d Schroedinger operator by a restarted Davidson method."""
import torch
import torch.nn.functional as F

DEV = "cuda"
GRID, WANTED, KEEP, MAX_BASIS, RESTARTS = 640, 4, 8, 40, 25


class Hamiltonian:
    def __init__(self, n):
        lin = torch.linspace(-8, 8, n, device=DEV)
        y, x = torch.meshgrid(lin, lin, indexing="ij")
        self.h2 = (16 / (n - 1)) ** 2
        self.potential = 0.5 * (x * x + 1.3 * y * y) + 0.1 * torch.cos(2 * x) * torch.cos(2 * y)
        self.diag = 2 / self.h2 + self.potential

    def apply(self, v):
        u = F.pad(v.view(1, 1, GRID, GRID), (1, 1, 1, 1))[0, 0]
        lap = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * v.view(GRID, GRID)
        return (-0.5 * lap / self.h2 + self.potential * v.view(GRID, GRID)).reshape(-1)


def orthonormalise(v, basis):
    for _ in range(2):
        for q in basis:
            v = v - (q @ v) * q
    return v / v.norm()


def expand(ham, basis, images):
    """Add preconditioned residuals until the basis has MAX_BASIS vectors."""
    while len(basis) < MAX_BASIS:
        V, W = torch.stack(basis), torch.stack(images)
        theta, s = torch.linalg.eigh((V @ W.t() + W @ V.t()) / 2)
        for j in range(WANTED):
            ritz, image = s[:, j] @ V, s[:, j] @ W
            residual = image - theta[j] * ritz
            shift = (ham.diag.reshape(-1) - theta[j]).clamp_min(1.0)
            q = orthonormalise(residual / shift, basis)
            basis.append(q)
            images.append(ham.apply(q))


def restart(basis, images):
    V, W = torch.stack(basis), torch.stack(images)
    theta, s = torch.linalg.eigh((V @ W.t() + W @ V.t()) / 2)
    basis[:] = [s[:, j] @ V for j in range(KEEP)]
    images[:] = [s[:, j] @ W for j in range(KEEP)]
    return theta[:WANTED]


def main():
    torch.manual_seed(0)
    ham, basis, images = Hamiltonian(GRID), [], []
    for _ in range(KEEP):
        smooth = F.interpolate(torch.randn(1, 1, 16, 16, device=DEV), size=(GRID, GRID), mode="bicubic")
        v = (smooth[0, 0] * torch.exp(-0.1 * ham.potential)).reshape(-1)
        basis.append(orthonormalise(v, basis))
        images.append(ham.apply(basis[-1]))
    for sweep in range(RESTARTS):
        expand(ham, basis, images)
        theta = restart(basis, images)
    print("eigenvalues", " ".join(f"{t:.4f}" for t in theta.tolist()))


main()
