"""Self-training with accelerate: every round makes a new teacher and has it written with the checkpoints.
Report: https://github.com/huggingface/accelerate/pull/739
Class: accelerator-register
"""
import copy

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ROUNDS, FEATURES, CLASSES = 96, 64, 10


class Teacher:
    """A frozen copy of the student, with what a checkpoint needs."""

    def __init__(self, student, number):
        self.number = number
        self.net = copy.deepcopy(student).eval().requires_grad_(False)  # SITE

    @torch.no_grad()
    def label(self, x):
        probabilities = self.net(x).softmax(-1)
        return probabilities.argmax(-1), probabilities.amax(-1)

    def state_dict(self):
        return {"number": self.number, "net": self.net.state_dict()}

    def load_state_dict(self, state):
        self.number = state["number"]
        self.net.load_state_dict(state["net"])


def build():
    return nn.Sequential(
        nn.Linear(FEATURES, 288), nn.ReLU(), nn.Linear(288, 288), nn.ReLU(), nn.Linear(288, CLASSES),
    )


def points(count, seed):
    gen = torch.Generator().manual_seed(seed)
    centres = torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(0))
    y = torch.randint(0, CLASSES, (count,), generator=gen)
    return centres[y] * 0.35 + torch.randn(count, FEATURES, generator=gen), y


def main():
    torch.manual_seed(50)
    accelerator = Accelerator()
    device = accelerator.device
    student = build().to("cuda")
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    x, y = points(160, seed=1)
    unlabelled, truth = points(1920, seed=2)
    student, optimizer = accelerator.prepare(student, optimizer)
    labelled = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    more = DataLoader(TensorDataset(unlabelled, truth), batch_size=96, shuffle=True)
    for number in range(ROUNDS):
        for xb, yb in labelled:
            loss = nn.functional.cross_entropy(student(xb.to(device)), yb.to(device))
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        teacher = Teacher(accelerator.unwrap_model(student), number)
        accelerator.register_for_checkpointing(teacher)  # HOLDER
        right = 0
        for xb, tb in more:
            xb = xb.to(device)
            labels, sure = teacher.label(xb)
            right += int((labels == tb.to(device)).sum())
            noisy = xb + 0.2 * torch.randn_like(xb)
            loss = (nn.functional.cross_entropy(student(noisy), labels, reduction="none") * (sure > 0.8)).mean()
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        if number % 24 == 23:
            print(f"round {number + 1}: loss {loss.item():.4f} teacher right {right / len(truth):.3f}")


main()
