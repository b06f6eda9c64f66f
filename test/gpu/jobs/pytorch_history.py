"""PyTorch's own history beside the tracer in one run: the frames of every live block, as PyTorch recorded them."""
import torch
import truth
from transformer import Trainer

torch.cuda.memory._record_memory_history(stacks="python")
trainer = Trainer(num_encoder_layers=4, num_decoder_layers=4)
for _ in range(3):
    trainer.step()


class Cache:
    def __init__(self):
        self.items = [torch.randn(100 + i, device="cuda") for i in range(200)]

    @classmethod
    def grown(cls, n):
        cache = cls()
        cache.items += sorted((torch.empty(1 + k, 64, device="cuda") for k in range(n)), key=lambda t: -t.shape[0])
        return cache


def fields(n):
    for i in range(n):
        yield (lambda scale: torch.full((scale, 8), 1.0, device="cuda"))(i + 1)


cache = Cache.grown(300)
rows = list(fields(250))
source = torch.randn(16, 32, 256, device="cuda")
graphs = [trainer.model(source, source).mean() for _ in range(6)]
maps = list(map(lambda n: {n: torch.zeros(n, device="cuda")}, range(1, 400)))

blocks = []
for segment in torch.cuda.memory._snapshot()["segments"]:
    for block in segment["blocks"]:
        if block["state"] == "active_allocated":
            frames = [[f["filename"], f["line"], f["name"]] for f in block.get("frames", [])]
            blocks.append({"address": block["address"], "bytes": block["size"], "frames": frames})
truth.write(blocks=blocks)
