"""One thread makes it, another one keeps it."""
import queue
import threading
import torch

inbox = queue.Queue()
seen = []


def consumer():
    while True:
        item = inbox.get()
        if item is None:
            return
        seen.append(item.mean().item())
        backlog.append(item)  # HOLDER


backlog = []
worker = threading.Thread(target=consumer, name="consumer")
worker.start()
net = torch.nn.Linear(256, 256).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(80):
    x = torch.randn(128, 256, device="cuda")
    y = net(x)
    loss = (y - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    inbox.put(y.detach().sigmoid())  # SITE
inbox.put(None)
worker.join()
