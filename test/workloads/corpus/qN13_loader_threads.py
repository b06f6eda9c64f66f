"""Feeds a small convolutional model from loader threads through queues with reused buffers."""
import queue
import threading

import torch
from torch import nn

BUFFERS, BATCHES, WORKERS = 8, 280, 2


class Pool:
    """Buffers of several sizes that are made on demand and handed back after use."""

    def __init__(self):
        self.free = {}
        self.made = 0
        self.lock = threading.Lock()

    def take(self, side):
        with self.lock:
            shelf = self.free.setdefault(side, [])
            if shelf:
                return shelf.pop()
            self.made += 1
        return torch.empty(16, 3, side, side, device="cuda")

    def give(self, buffer):
        with self.lock:
            self.free[buffer.shape[-1]].append(buffer)


def produce(worker, pool, out):
    gen = torch.Generator().manual_seed(worker)
    for number in range(worker, BATCHES, WORKERS):
        side = 16 + 8 * (number % 4)
        buffer = pool.take(side)
        buffer.copy_(torch.rand(16, 3, side, side, generator=gen))
        labels = torch.randint(0, 4, (16,), generator=gen).to("cuda")
        out.put((buffer, labels))
    out.put(None)


def main():
    torch.manual_seed(15)
    net = nn.Sequential(
        nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 16, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 4),
    ).to("cuda")
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    pool = Pool()
    lanes = [queue.Queue(maxsize=BUFFERS // WORKERS) for _ in range(WORKERS)]
    threads = [threading.Thread(target=produce, args=(w, pool, lanes[w])) for w in range(WORKERS)]
    for thread in threads:
        thread.start()
    step, average = 0, 0.0
    while step < BATCHES:
        item = lanes[step % WORKERS].get()
        x, y = item
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        pool.give(x)
        step += 1
        average += (loss.item() - average) / min(step, 50)
        if step % 56 == 0:
            print(f"step {step}: loss {average:.4f}")
    for thread in threads:
        thread.join()


main()
