import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(34)
device = "cuda"
STEPS, DIM, VOCAB, MAX_LEN = 120, 64, 150, 384


class Positions:
    def __init__(self):
        self.masks, self.angles = {}, {}

    def __call__(self, n):
        if n not in self.masks:
            blocked = torch.full((n, n), float("-inf"), device=device)
            self.masks[n] = blocked.triu(1)
            rate = 1e4 ** (-torch.arange(0, DIM, 2, device=device) / DIM)
            phase = torch.arange(n, device=device)[:, None] * rate
            self.angles[n] = torch.cat([phase.sin(), phase.cos()], 1)
        return self.masks[n], self.angles[n]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(DIM, VOCAB)
        self.positions = Positions()

    def forward(self, tokens):
        mask, angle = self.positions(tokens.shape[1])
        return self.head(self.enc(self.emb(tokens) + angle, mask=mask))


def length(step):
    return min(MAX_LEN, 32 * (1 + step // 4))


text = torch.randint(0, VOCAB, (64, MAX_LEN + 1), device=device)
text[:, 1::2] = (text[:, 0:-1:2] * 3 + 1) % VOCAB
model = Model().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 10))
for step in range(STEPS):
    n = length(step)
    rows = torch.randint(0, 64, (4,), device=device)
    x, y = text[rows, :n], text[rows, 1:n + 1]
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
print(f"final length {n} loss {loss.item():.4f}")
