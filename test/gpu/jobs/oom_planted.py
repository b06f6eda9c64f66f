"""Memory runs out in one of ten ways (GMT_CASE). GMT_MODE `fail`: it does, and the step before is told. `room` and `fixed`: just before that
place (GMT_AT), without and with what should help, the biggest tensor that would fit is told."""
import os
import subprocess
import sys
import time

import torch
import truth
from torch import nn

CASE, MODE, AT = os.environ["GMT_CASE"], os.environ["GMT_MODE"], int(os.environ.get("GMT_AT", "-1"))
FIXED = MODE == "fixed"
GB = torch.cuda.get_device_properties(0).total_memory // 79  # of an H100; more of a bigger GPU
told = {}


def room():
    """Bytes of the biggest tensor that fits, to 16 MB; for another library what the driver has."""
    if CASE == "nccl":
        return torch.cuda.mem_get_info()[0]
    low, high = 0, torch.cuda.get_device_properties(0).total_memory
    while high - low > 1 << 24:
        middle = (low + high) // 2
        try:
            torch.empty(middle, dtype=torch.uint8, device="cuda")
            low = middle
        except torch.OutOfMemoryError:
            high = middle
    return low


def reach():
    """The program comes to a place that may be the last one."""
    told["at"] = place = told.get("at", 0) + 1
    if MODE == "fail":
        truth.write(**told)
    elif place == AT:
        truth.write(room=room(), **told)
        os._exit(0)


def tensor(gigabytes, **how):
    return torch.empty(int(gigabytes * GB), dtype=torch.uint8, **{"device": "cuda", **how})


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Net(nn.Module):
    def __init__(self, width=2048, layers=12):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))

    def forward(self, x):
        for number, block in enumerate(self.blocks):
            reach()
            x = block(x)
        return x


def leak():
    weights = tensor(40)
    net = Block(2048).cuda()
    kept = []
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for _ in range(400):
        reach()
        out = net(torch.randn(60_000, 2048, device="cuda"))
        kept.append(out)
        out.pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def batch():
    weights = tensor(55)
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for step in range(22):
        rows = 4_000 if step < 20 or FIXED else GB * 10 // 70_000
        net(torch.randn(rows, 2048, device="cuda")).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def huge():
    weights = [tensor(1) for _ in range(20)]
    for step in range(12):
        work = tensor(1)
    reach()
    if MODE == "fail":
        scores = torch.empty(65 * GB, dtype=torch.uint8, device="cuda")


def caught():
    weights = [tensor(1) for _ in range(20)]
    for step in range(30):
        work = tensor(1)
        try:
            if step == 12:
                reach()
                scores = torch.empty(65 * GB, dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            halves = [tensor(8), tensor(8)]


def fragmentation():
    kept = []
    for _ in range(6):
        big = tensor(11)
        del big
        kept.append(tensor(0.02))
        held = tensor(10.97)  # what is left over is too small for the next
        kept.append(held)
    for index in range(1, 12, 2):
        kept[index] = None
    reach()
    if MODE == "fail":
        scores = torch.empty(30 * GB, dtype=torch.uint8, device="cuda")


def other_process():
    other = None
    if not FIXED:
        code = f"import torch, sys; x = torch.empty({50 * GB}, dtype=torch.uint8, device='cuda'); print('ready', flush=True); sys.stdin.read()"
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("GPU_MEMTRACE", "CUDA_INJ", "LD_PRE"))}
        other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean)
        other.stdout.readline()
    try:
        weights = [tensor(1) for _ in range(10)]
        time.sleep(3)  # the GPU's own account is read once a second
        weights.append(tensor(1))
        reach()
        if MODE == "fail":
            scores = torch.empty(25 * GB, dtype=torch.uint8, device="cuda")
    finally:
        if other:
            other.kill()


def graphs():
    kept = []
    for number in range(3):
        graph = torch.cuda.CUDAGraph()
        pool = kept[0][0].pool() if FIXED and kept else None
        with torch.cuda.graph(graph, pool=pool):
            out = torch.ones(5 * GB // 4, device="cuda")
            out = out + 1
        kept.append((graph, out))
    weights = [tensor(1) for _ in range(20)]
    time.sleep(3)  # such programs capture at their start
    reach()
    if MODE == "fail":
        scores = torch.empty(35 * GB, dtype=torch.uint8, device="cuda")


def nccl():
    """Two ranks; the first one's GPU is full of PyTorch's cache."""
    import ctypes

    import torch.distributed as dist

    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    small, rest = torch.ones(8, device="cuda"), [tensor(0.5)]
    if rank == 0:
        cache = tensor(torch.cuda.mem_get_info()[0] / GB - 1)
        del cache
        if FIXED:
            torch.cuda.empty_cache()
        reach()
        while torch.cuda.mem_get_info()[0] > 24 << 20:
            ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(8 << 20))
    elif MODE != "fail":
        os._exit(0)  # the first rank ends before they meet
    dist.all_reduce(small)
    torch.cuda.synchronize()


def pinned():
    torch.zeros(8, device="cuda")
    kept = [tensor(1, device="cpu", pin_memory=True) for _ in range(2)]
    reach()
    if MODE == "fail":
        scores = torch.empty(400 * GB, dtype=torch.uint8, pin_memory=True)


def limit():
    torch.cuda.set_per_process_memory_fraction(1.0 if FIXED else 0.25)
    weights = [tensor(1) for _ in range(12)]
    reach()
    if MODE == "fail":
        scores = torch.empty(15 * GB, dtype=torch.uint8, device="cuda")


globals()[CASE]()
