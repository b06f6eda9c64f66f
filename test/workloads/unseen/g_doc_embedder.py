"""Offline embedding of a document collection with a small transformer encoder."""
import torch
import torch.nn as nn

torch.manual_seed(7)
DEV = "cuda"
SHARDS, BATCHES, BATCH, DIM, MAXLEN = 24, 20, 32, 256, 128


class TooLong(ValueError):
    pass


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(5000, DIM)
        self.pos = nn.Embedding(512, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 4 * DIM, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 3)

    def lookup(self, ids):
        pos = torch.arange(ids.shape[1], device=ids.device)
        return self.tok(ids) + self.pos(pos)

    def forward(self, ids):
        x = self.lookup(ids)
        if ids.shape[1] > MAXLEN:
            raise TooLong(f"{ids.shape[1]} tokens, at most {MAXLEN}")
        return self.body(x).mean(1)


class Job:
    def __init__(self):
        self.skipped = {}
        self.centroid = torch.zeros(DIM, device=DEV)
        self.done = 0

    def handle(self, key, ids, model):
        try:
            vec = model(ids)
        except TooLong as err:
            self.skipped[key] = err
            return
        self.centroid += vec.sum(0)
        self.done += len(vec)


def read_batch(shard, b):
    gen = torch.Generator().manual_seed(shard * 1000 + b)
    length = int(torch.randint(24, 150, (1,), generator=gen))
    return torch.randint(0, 5000, (BATCH, length), generator=gen).to(DEV)


model = Encoder().to(DEV).eval()
job = Job()
with torch.inference_mode():
    for shard in range(SHARDS):
        for b in range(BATCHES):
            job.handle((shard, b), read_batch(shard, b), model)
        if shard % 8 == 0:
            norm = (job.centroid / job.done).norm().item()
print(f"{job.done} documents, {len(job.skipped)} batches skipped, centroid norm {norm:.3f}")
