"""Streaming Nystroem kernel ridge regression on batches that arrive over time."""
import torch

DEV = torch.device("cuda")
DIM, LANDMARKS, BATCH, BATCHES = 24, 512, 2048, 160
GAMMA, RIDGE = 0.02, 1e-2


def truth(x):
    return torch.sin(x[:, :4].sum(1)) + 0.2 * x[:, 4] * x[:, 5]


class NystromRidge:
    def __init__(self, landmarks):
        self.landmarks = landmarks
        self.kzz = self.kernel(landmarks)
        self.gram = RIDGE * self.kzz + 1e-3 * torch.eye(LANDMARKS, device=DEV)
        self.rhs = torch.zeros(LANDMARKS, device=DEV)
        self.coef = torch.zeros(LANDMARKS, device=DEV)
        self.probes = []

    def kernel(self, x):
        dist = (x.pow(2).sum(1, keepdim=True) + self.landmarks.pow(2).sum(1)) - 2 * x @ self.landmarks.t()
        return torch.exp(-GAMMA * dist.clamp_min(0))

    def update(self, x, y):
        k = self.kernel(x)
        self.gram += k.t() @ k / BATCH
        self.rhs += k.t() @ y / BATCH
        self.coef = torch.linalg.solve(self.gram.double(), self.rhs.double()).float()
        self.probes.append(k[:4])
        return (k @ self.coef - y).pow(2).mean().item()

    def drift(self):
        """How the similarity of incoming points to the landmarks moves over time."""
        first, last = self.probes[0].mean(), self.probes[-1].mean()
        return (last - first).item()


def stream(gen):
    for i in range(BATCHES):
        x = torch.randn(BATCH, DIM, generator=gen, device=DEV) + 0.002 * i
        y = truth(x) + 0.1 * torch.randn(BATCH, generator=gen, device=DEV)
        yield x, y


gen = torch.Generator(device=DEV).manual_seed(4)
model = NystromRidge(torch.randn(LANDMARKS, DIM, generator=gen, device=DEV))
mse = None
for x, y in stream(gen):
    batch_mse = model.update(x, y)
    mse = batch_mse if mse is None else 0.95 * mse + 0.05 * batch_mse
print(f"mse {mse:.4f} drift {model.drift():+.5f}")
