"""Greedy CTC evaluation of an acoustic model; utterances are padded to bucket lengths."""
import math
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(3)
torch.manual_seed(19)
dev = "cuda"
UTTERANCES, MELS, DIM, STEP, TOKENS = 150, 80, 384, 64, 60


class RelativeBias(nn.Module):
    """Attention bias by distance, made for a length the first time it is needed."""

    def __init__(self, heads=6):
        super().__init__()
        self.slopes = [2.0 ** -(i + 1) for i in range(heads)]
        self.made = {}

    def forward(self, length):
        if length not in self.made:
            at = torch.arange(length, device=dev)
            far = (at[:, None] - at[None]).abs().float()
            self.made[length] = torch.stack([-s * far for s in self.slopes])[None]
        return self.made[length]


class Acoustic(nn.Module):
    def __init__(self, layers=4, heads=6):
        super().__init__()
        self.heads = heads
        self.front = nn.Conv1d(MELS, DIM, 3, padding=1)
        self.bias = RelativeBias(heads)
        self.qkv = nn.ModuleList([nn.Linear(DIM, 3 * DIM) for _ in range(layers)])
        self.ff = nn.ModuleList([nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, 1024), nn.SiLU(),
                                               nn.Linear(1024, DIM)) for _ in range(layers)])
        self.head = nn.Linear(DIM, TOKENS)

    def forward(self, mel):
        x = F.gelu(self.front(mel)).transpose(1, 2)
        b, t, _ = x.shape
        for qkv, ff in zip(self.qkv, self.ff):
            q, k, v = qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias(t))
            x = x + a.transpose(1, 2).reshape(b, t, DIM)
            x = x + ff(x)
        return self.head(x).log_softmax(-1)


def collapse(ids):
    merged = torch.unique_consecutive(ids)
    return merged[merged != 0]


model = Acoustic().to(dev).eval()
longest = 300
emitted = frames = 0
with torch.inference_mode():
    for n in range(UTTERANCES):
        # sorted roughly by duration, as the manifest is
        longest = 300 + min(n, 71) * 12
        length = random.randint(200, longest)
        padded = STEP * math.ceil(length / STEP)
        mel = torch.randn(4, MELS, length, device=dev)
        logp = model(F.pad(mel, (0, padded - length)))
        for row in logp.argmax(-1)[:, :length]:
            emitted += len(collapse(row))
        frames += 4 * length
print(f"{emitted} tokens in {frames} frames, {len(model.bias.made)} bucket lengths")
