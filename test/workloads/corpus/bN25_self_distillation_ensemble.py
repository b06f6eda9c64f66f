"""Self-distillation: the student learns from an ensemble of its own last snapshots.
Class: snapshots
"""
import collections
import copy

import torch
import torch.nn.functional as F
from torch import nn

SNAPSHOTS, EVERY = 8, 24


def make_student():
    return nn.Sequential(
        nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
    )


def ensemble_targets(teachers, x):
    with torch.no_grad():
        return torch.stack([F.softmax(teacher(x), dim=1) for teacher in teachers]).mean(dim=0)


def main():
    torch.manual_seed(139)
    student = make_student().to("cuda")
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
    teachers = collections.deque(maxlen=SNAPSHOTS)
    centres = torch.randn(10, 64, device="cuda")
    for step in range(390):
        y = torch.randint(0, 10, (128,), device="cuda")
        x = centres[y] + 2.0 * torch.randn(128, 64, device="cuda")
        noisy = torch.where(torch.rand(128, device="cuda") < 0.3, torch.randint(0, 10, (128,), device="cuda"), y)
        logits = student(x)
        loss = F.cross_entropy(logits, noisy)
        if teachers:
            loss = 0.5 * loss + 0.5 * F.cross_entropy(logits, ensemble_targets(teachers, x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % EVERY == EVERY - 1:
            teachers.append(copy.deepcopy(student).eval().requires_grad_(False))
        if step % 78 == 0:
            accuracy = (logits.argmax(dim=1) == y).float().mean().item()
            print(f"step {step}: loss {loss.item():.3f}, accuracy {accuracy:.3f}, {len(teachers)} teachers")


if __name__ == "__main__":
    main()
