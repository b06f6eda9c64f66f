"""A producer thread fills a bounded queue."""
import queue
import threading
import torch

batches = queue.Queue(maxsize=6)


def produce():
    for _ in range(120):
        batches.put(torch.randn(128, 128, device="cuda"))
    batches.put(None)


thread = threading.Thread(target=produce)
thread.start()
net = torch.nn.Linear(128, 128).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
while (x := batches.get()) is not None:
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
thread.join()
