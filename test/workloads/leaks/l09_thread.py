"""A worker thread keeps its results."""
import queue
import threading

import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

todo = queue.Queue()
results = []


def work():
    while True:
        x = todo.get()
        if x is None:
            return
        results.append(x.softmax(-1))  # SITE HOLDER


worker = threading.Thread(target=work, name="scorer")
worker.start()
for step in range(60):
    x = torch.randn(256, 256, device="cuda")
    todo.put(x)
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
todo.put(None)
worker.join()
