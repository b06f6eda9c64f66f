"""Training steps, threads, one 500 MB buffer and empty_cache; then what PyTorch counted of it."""
import os
import threading

import torch
import truth
from transformer import Trainer

trainer = Trainer()
losses = [trainer.step().item() for _ in range(5)]

kept = {}


def fill(thread):
    torch.manual_seed(thread)
    for i in range(400):
        kept[thread, i % 37] = torch.empty(1 + (i * 7919 + thread * 31) % 300_000, device="cuda")


threads = [threading.Thread(target=fill, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

before = truth.memory_stats()
buffer = torch.empty(500 * 1024 * 1024, dtype=torch.uint8, device="cuda")
during = truth.memory_stats()
del buffer
torch.cuda.empty_cache()
after = truth.memory_stats()
truth.write(stats=after, before=before, during=during, loss=losses[-1], config=os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""))
print(losses[-1])
if os.environ.get("GMT_KILL"):
    os.kill(os.getpid(), 9)
