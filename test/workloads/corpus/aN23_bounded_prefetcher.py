"""Training with a prefetching thread that keeps a handful of prepared batches on the device.

Report: https://github.com/pytorch/pytorch/issues/15502
Class: bounded-queue
"""
import queue
import threading

import torch
import torch.nn as nn


class Prefetcher:
    """Iterates over prepared batches; a thread stays a few of them ahead."""

    def __init__(self, steps, ahead=8):
        self.steps = steps
        self.ready = queue.Queue(maxsize=ahead)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        generator = torch.Generator().manual_seed(22)
        for _ in range(self.steps):
            images = torch.rand(32, 3, 32, 32, generator=generator)
            labels = (images[:, :, :16].mean(dim=(2, 3)) - images[:, :, 16:].mean(dim=(2, 3))).argmax(dim=1)
            self.ready.put((images.to("cuda").sub(0.5), labels.to("cuda")))
        self.ready.put(None)

    def __iter__(self):
        while (item := self.ready.get()) is not None:
            yield item


def main():
    torch.manual_seed(22)
    model = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2), nn.ReLU(), nn.Conv2d(32, 32, 3, stride=2), nn.ReLU(),
                          nn.Flatten(), nn.Linear(32 * 7 * 7, 3)).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    correct = seen = 0
    for step, (images, labels) in enumerate(Prefetcher(steps=200), start=1):
        logits = model(images)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (logits.argmax(dim=1) == labels).sum().item()
        seen += len(labels)
        if step % 50 == 0:
            print(f"step {step}: loss {loss.item():.3f} accuracy {correct / seen:.3f}")
            correct = seen = 0


if __name__ == "__main__":
    main()
