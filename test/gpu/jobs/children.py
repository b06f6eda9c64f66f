"""Children of every kind that use the GPU, and some that do not."""
import json
import multiprocessing
import os
import subprocess
import sys

import torch
import truth


def work(n, out):
    blocks = [torch.empty(1000 * (i + 1), device="cuda") for i in range(n)]
    stats = torch.cuda.memory_stats()
    out.put({"pid": os.getpid(), "allocated": stats["allocation.all.allocated"], "blocks": len(blocks)})
    out.close()
    out.join_thread()


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.full((4,), float(i))


CHILD = (
    "import torch, json, os; kept = [torch.empty(5000, device='cuda') for _ in range(7)];"
    "print(json.dumps({'pid': os.getpid(), 'allocated': torch.cuda.memory_stats()['allocation.all.allocated'], 'blocks': 7}))"
)

if __name__ == "__main__":
    children = []
    for method, n in (("fork", 3), ("spawn", 5)):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        child = context.Process(target=work, args=(n, queue))
        child.start()
        children.append({"how": method, **queue.get()})
        child.join()
    subprocess.run(["/bin/sh", "-c", "exit 0"], check=True)
    printed = subprocess.run([sys.executable, "-c", CHILD], check=True, capture_output=True, text=True).stdout
    children.append({"how": "exec", **json.loads(printed)})
    ranks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torchrun_rank.py")
    launched = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", ranks],
        check=True, capture_output=True, text=True,
    )
    children += [{"how": "torchrun", **json.loads(text)} for text in launched.stdout.splitlines() if text.startswith("{")]
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=2, pin_memory=True)
    batches = [batch.cuda() for batch in loader]
    truth.write(children=children, stats=truth.memory_stats(), batches=len(batches))
