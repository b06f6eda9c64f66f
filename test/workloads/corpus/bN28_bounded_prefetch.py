"""Trains on batches of changing size that a thread prepares ahead; at most twelve of them wait in the queue.
Report: https://github.com/speechbrain/speechbrain/issues/68
Class: thread-queue
"""
import queue
import threading
import time

import torch
from torch import nn


def producer(out, steps, seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        size = int(torch.randint(8, 33, (), generator=generator))
        x = torch.randn(size, 4096, generator=generator)
        out.put((x.to("cuda"), x[:, :64].sum(dim=1, keepdim=True).to("cuda") / 8))
        time.sleep(0.002)
    out.put(None)


def main():
    torch.manual_seed(157)
    batches = queue.Queue(maxsize=12)
    thread = threading.Thread(target=producer, args=(batches, 200, 157), daemon=True)
    thread.start()
    model = nn.Sequential(nn.Linear(4096, 48), nn.ReLU(), nn.Linear(48, 1)).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    while (batch := batches.get()) is not None:
        x, y = batch
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.008)
        if step % 40 == 0:
            print(f"step {step}: loss {loss.item():.3f}")
        step += 1
    thread.join()
    print(f"{step} steps")


if __name__ == "__main__":
    main()
