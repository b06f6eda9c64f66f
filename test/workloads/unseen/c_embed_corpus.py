"""Embed a corpus of token sequences, then look for near duplicates."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(33)
VOCAB, DIM, LENGTH = 2000, 192, 48
BATCH, BATCHES = 64, 200


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, DIM)
        self.positions = nn.Parameter(0.1 * torch.randn(LENGTH, DIM))
        self.up = nn.Linear(DIM, 2 * DIM)
        self.down = nn.Linear(2 * DIM, DIM)

    def forward(self, ids):
        h = self.tokens(ids) + self.positions
        h = h + self.down(F.gelu(self.up(h)))
        return F.normalize(h.mean(1), dim=-1), h


def documents(i):
    g = torch.Generator().manual_seed(i % 190)
    return torch.randint(0, VOCAB, (BATCH, LENGTH), generator=g)


encoder = Encoder().to("cuda").eval()
vectors = []
token_states = []
with torch.inference_mode():
    for i in range(BATCHES):
        ids = documents(i).to("cuda")
        pooled, states = encoder(ids)
        vectors.append(pooled.cpu())
        token_states.append(states[:, 0].half().cpu())

index = torch.cat(vectors)
queries = index[-BATCH * 10:]
near = (queries @ index[:-BATCH * 10].T).max(1).values
print(f"{len(index)} documents, {(near > 0.999).sum().item()} duplicates, {len(torch.cat(token_states))} states")
