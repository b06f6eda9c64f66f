"""Trains on batches that a thread prepares on the device ahead of time, so that the training never has to wait.
Report: https://github.com/speechbrain/speechbrain/issues/68
Class: thread-queue
"""
import queue
import threading
import time

import torch
from torch import nn


class DeviceLoader(threading.Thread):
    """Augments pictures and brings them to the device in the background."""

    def __init__(self, batch_size, seed):
        super().__init__(daemon=True)
        self.generator = torch.Generator().manual_seed(seed)
        self.batch_size = batch_size
        self.batches = queue.Queue()  # HOLDER
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.is_set():
            images = torch.randn(self.batch_size, 3, 32, 32, generator=self.generator)
            labels = (images.mean(dim=(1, 2, 3)) > 0).long()
            self.batches.put((images.to("cuda"), labels.to("cuda")))  # SITE HOLDER
            time.sleep(0.008)  # reading and decoding

    def __iter__(self):
        while True:
            yield self.batches.get()


def main():
    torch.manual_seed(101)
    loader = DeviceLoader(batch_size=16, seed=101)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 2),
    ).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader.start()
    for step, (images, labels) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.02)  # logging to a slow disk
        if step % 30 == 0:
            print(f"step {step}: loss {loss.item():.3f}")
        if step == 149:
            break
    loader.stopped.set()
    loader.join()


if __name__ == "__main__":
    main()
