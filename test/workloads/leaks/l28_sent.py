"""Tensors sent to another process, which keeps them."""
import torch
import torch.multiprocessing as mp


def consumer(queue, done):
    kept = []
    while True:
        item = queue.get()
        if item is None:
            break
        kept.append(item)
    done.wait()


def main():
    mp.set_start_method("spawn")
    queue, done = mp.Queue(), mp.Event()
    child = mp.Process(target=consumer, args=(queue, done))
    child.start()
    net = torch.nn.Linear(256, 256).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(60):
        y = net(torch.randn(256, 256, device="cuda"))
        loss = y.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        queue.put(y.detach().clone())  # SITE
    queue.put(None)
    done.set()
    child.join()


if __name__ == "__main__":
    main()
