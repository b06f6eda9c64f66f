"""What the agent is asked on a real GPU. `agent.py train|holders|blocks`; prints one line of JSON at its end."""
import gc
import json
import os
import sys
import time

import torch
import tracing


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(256, 256)  # HOLD parameter
        self.debug_outputs = []

    def forward(self, x):
        y = torch.nn.functional.gelu(self.proj(x))
        if keeps:
            self.debug_outputs.append(y.detach())  # HOLD module list
        return y


class Loop:
    def __init__(self):
        self.me = self  # HOLD cycle
        self.block = torch.zeros(1 << 20, device="cuda")


keeps = False
cache = {}


def fill(where, step):
    where[step] = torch.zeros(1 << 16, device="cuda")  # HOLD cache


def address(tensor):
    return tensor.untyped_storage().data_ptr()


def train(steps=200):
    """Losses bit for bit, and the time that the steps took."""
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    losses, begun = [], 0
    for step in range(steps):
        if step == 20:
            torch.cuda.synchronize()
            begun = time.perf_counter()
        x = torch.randn(128, 256, device="cuda")
        loss = (net(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    return {"losses": losses, "seconds": time.perf_counter() - begun}


def holders():
    global keeps
    gc.disable()
    keeps = True
    model = Encoder().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    addresses, epoch_loss = {}, torch.zeros((), device="cuda")
    for step in range(20):
        x = torch.randn(64, 256, device="cuda")
        hidden = model(x)
        if step == 3:
            addresses["graph"] = address(x)
            addresses["module list"] = address(model.debug_outputs[-1])
        loss = hidden.square().mean()
        epoch_loss = epoch_loss + loss  # HOLD graph
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        fill(cache, step)
    addresses["cache"] = address(cache[5])
    loop = Loop()
    addresses["cycle"] = address(loop.block)
    del loop
    addresses["gradient"] = address(model.proj.weight.grad)
    addresses["parameter"] = address(model.proj.weight)
    addresses["none"] = 0x10
    told = [[hex(at), 512, 0] for at in addresses.values()]
    assert tracing.ask(1, "holders", addresses=told, budgetMs=500)
    return {"addresses": addresses, "kept": epoch_loss is None}


def blocks():
    plain = torch.zeros(1000, dtype=torch.uint8, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        beside = torch.zeros(3000, dtype=torch.uint8, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = plain + 1
    addresses = {"plain": address(plain), "beside": address(beside), "captured": address(captured)}
    assert tracing.ask(1, "holders", addresses=[[hex(at), 4096, 0] for at in addresses.values()], budgetMs=500)
    return {"addresses": addresses, "stream": side.cuda_stream, "pool": list(graph.pool())}


torch.zeros(1, device="cuda")
if "GPU_MEMTRACE_DIR" in os.environ and os.environ.get("GPU_MEMTRACE_AGENT") != "0":
    assert tracing.wait(tracing.agent_is_here, 20)
print(json.dumps({"train": train, "holders": holders, "blocks": blocks}[sys.argv[1]]()))
