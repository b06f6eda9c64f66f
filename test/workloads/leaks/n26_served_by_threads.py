"""Threads that answer requests from a bounded queue."""
import queue
import threading
import torch

requests = queue.Queue(maxsize=8)
net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).cuda().eval()


@torch.no_grad()
def serve():
    while True:
        size = requests.get()
        if size is None:
            return
        net(torch.randn(size, 256, device="cuda")).sum().item()


workers = [threading.Thread(target=serve, name="serve-%d" % i) for i in range(3)]
for worker in workers:
    worker.start()
for number in range(400):
    requests.put(32 + 16 * (number % 5))
for worker in workers:
    requests.put(None)
for worker in workers:
    worker.join()
