"""A producer thread is faster than its consumer."""
import queue
import threading
import torch

batches = queue.Queue()
done = threading.Event()


def produce():
    while not done.is_set():
        batches.put(torch.randn(64, 256, device="cuda"))  # SITE
        done.wait(0.002)


thread = threading.Thread(target=produce, name="producer", daemon=True)
thread.start()
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(3)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
import time
for step in range(100):
    x = batches.get()
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.008)
done.set()
thread.join()
