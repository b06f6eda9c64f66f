"""Holds blocks from before it says "under way": parameters, kept tensors of odd sizes, some freed again; then frees half of them and
keeps more. It ends when its input ends, and writes what PyTorch itself says is alive then."""
import sys

import torch
import truth

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters())


def step():
    loss = model(torch.randn(256, 512, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def blocks():
    """What the allocator has handed out: [address, bytes, device]."""
    found = []
    for segment in torch.cuda.memory_snapshot():
        at = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                found.append([block.get("address", at), block["size"], segment["device"]])
            at += block["size"]
    return found


for _ in range(5):
    step()
kept = [torch.empty(1000 + 777 * i, device="cuda") for i in range(400)]
kept += [torch.empty(3_000_000 + i, device="cuda") for i in range(4)]
del kept[100:150]
held = torch.empty(60_000_000, device="cuda")  # its segment is freed later
busy = len(sys.argv) > 1 and sys.argv[1] == "busy"
torch.cuda.synchronize()
before = blocks()
print("under way", flush=True)
if busy:
    import select

    while not select.select([sys.stdin], [], [], 0)[0]:
        step()
sys.stdin.readline()
del kept[::2], held
torch.cuda.empty_cache()
later = [torch.empty(2000 + i, device="cuda") for i in range(100)]
for _ in range(5):
    step()
torch.cuda.synchronize()
truth.write(
    stats=truth.memory_stats(), before=before, blocks=blocks(), torch=torch.__version__, python=sys.version.split()[0]
)
print("done", flush=True)
sys.stdin.read()
