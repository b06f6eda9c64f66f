"""A thread makes batches ahead, up to six."""
import queue
import threading

import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

ready = queue.Queue(maxsize=6)


def load():
    for _ in range(120):
        ready.put(torch.randn(256, 256, device="cuda"))


loader = threading.Thread(target=load, name="loader")
loader.start()
for step in range(120):
    x = ready.get()
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
loader.join()
