"""Distils a wide teacher into a small student; the teacher runs once for each batch of the set."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)
DEV = "cuda"
EPOCHS, BATCHES, BATCH, FEATURES, CLASSES = 5, 80, 1024, 200, 1000


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.GELU()]
    return nn.Sequential(*layers[:-1]).to(DEV)


class Dataset:
    """Batches are rebuilt from their seed, the noise differs from epoch to epoch."""

    def load(self, index, epoch):
        gen = torch.Generator(device=DEV).manual_seed(index)
        x = torch.randn(BATCH, FEATURES, generator=gen, device=DEV)
        gen.manual_seed(epoch * 10_000 + index)
        return x, x + 0.1 * torch.randn(BATCH, FEATURES, generator=gen, device=DEV)


class SoftTargets:
    def __init__(self, teacher, temperature):
        self.teacher = teacher.eval()
        self.temperature = temperature
        self.known = {}

    @torch.no_grad()
    def __call__(self, index, x):
        if index not in self.known:
            # several passes, as for an ensemble by dropout
            logits = sum(self.teacher(x + 0.05 * torch.randn_like(x)) for _ in range(8)) / 8
            self.known[index] = F.softmax(logits / self.temperature, dim=1)
        return self.known[index]


data = Dataset()
targets = SoftTargets(mlp(FEATURES, 2048, 2048, 2048, CLASSES), temperature=0.5)
student = mlp(FEATURES, 512, 512, CLASSES)
opt = torch.optim.RMSprop(student.parameters(), lr=1e-4, momentum=0.5)
history = []
for epoch in range(EPOCHS):
    running = torch.zeros((), device=DEV)
    for i in torch.randperm(BATCHES).tolist():
        clean, noisy = data.load(i, epoch)
        soft = targets(i, clean)
        loss = F.kl_div(F.log_softmax(student(noisy), dim=1), soft, reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.detach()
    history.append(running.item() / BATCHES)
print(f"kl first {history[0]:.4f} last {history[-1]:.4f}")
