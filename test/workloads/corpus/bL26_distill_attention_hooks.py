"""Distils intermediate features of a frozen teacher into a student; hooks collect the features of both networks.
Report: https://github.com/Mikubill/sketch2img/issues/7
Class: hook-list
"""
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn


class FeatureTap:
    def __init__(self, model, names):
        self.store = defaultdict(list)
        for name in names:
            model.get_submodule(name).register_forward_hook(self._make_hook(name))

    def _make_hook(self, name):
        def hook(module, inputs, output):
            self.store[name].append(output)  # HOLDER
        return hook

    def latest(self):
        return {name: values[-1] for name, values in self.store.items()}

    def clear(self):
        self.store.clear()


def convnet(width):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10),
    )


def attention_map(x):
    return F.normalize(x.pow(2).mean(dim=1).flatten(1), dim=1)


def main():
    torch.manual_seed(89)
    teacher, student = convnet(24).to("cuda").eval(), convnet(8).to("cuda")
    teacher_tap, student_tap = FeatureTap(teacher, ["1", "3"]), FeatureTap(student, ["1", "3"])
    optimizer = torch.optim.AdamW(student.parameters(), lr=2e-3)
    for step in range(200):
        images = torch.randn(8, 3, 40, 40, device="cuda")
        with torch.no_grad():
            target = teacher(images)  # SITE
        output = student(images)
        loss = F.kl_div(F.log_softmax(output, dim=1), F.softmax(target, dim=1), reduction="batchmean")
        t, s = teacher_tap.latest(), student_tap.latest()
        for name in t:
            loss = loss + 10.0 * (attention_map(s[name]) - attention_map(t[name])).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        student_tap.clear()
        if step % 50 == 0:
            print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
