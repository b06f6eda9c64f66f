"""CTC acoustic model: bucketed utterances, static padded buffers, bfloat16 and gradient accumulation."""
import random

import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
MICRO, ACCUM, BATCH, MELS, TOKENS = 800, 4, 16, 80, 40


class Acoustic(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(MELS, 192, 5, 2, 2), nn.GELU(), nn.Conv1d(192, 256, 5, 2, 2), nn.GELU())
        self.mix = nn.ModuleList(nn.Conv1d(256, 256, 9, padding=4, groups=8) for _ in range(3))
        self.point = nn.ModuleList(nn.Conv1d(256, 256, 1) for _ in range(3))
        self.out = nn.Linear(256, TOKENS)

    def forward(self, x):
        h = self.front(x)
        for mix, point in zip(self.mix, self.point):
            h = h + F.gelu(point(mix(h)))
        return self.out(h.transpose(1, 2))


class Bucketer:
    """One padded input buffer for each length bucket, made when the bucket is first needed."""

    def __init__(self, width=64):
        self.width = width
        self.buffers = {}

    def pad(self, x):
        size = -(-x.shape[-1] // self.width) * self.width
        if size not in self.buffers:
            self.buffers[size] = torch.zeros(BATCH, MELS, size, device=DEV)
        buf = self.buffers[size]
        buf.zero_()
        buf[:, :, :x.shape[-1]] = x
        return buf


def utterance(frames, codebook):
    text = torch.randint(1, TOKENS, (BATCH, frames // 16), device=DEV)
    spec = codebook[text].repeat_interleave(16, dim=1).transpose(1, 2)
    return spec + 0.3 * torch.randn_like(spec), text


random.seed(8)
torch.manual_seed(8)
codebook = torch.randn(TOKENS, MELS, device=DEV)
model, bucketer = Acoustic().to(DEV), Bucketer()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-3, total_steps=MICRO // ACCUM)
for micro in range(MICRO):
    spec, text = utterance(16 * random.randint(8, 80), codebook)
    with torch.autocast(DEV, dtype=torch.bfloat16):
        logits = model(bucketer.pad(spec))
    logp = F.log_softmax(logits.float(), -1).transpose(0, 1)
    n_in = torch.full((BATCH,), logp.shape[0], device=DEV)
    n_out = torch.full((BATCH,), text.shape[1], device=DEV)
    loss = F.ctc_loss(logp, text, n_in, n_out, zero_infinity=True) / ACCUM
    loss.backward()
    if micro % ACCUM == ACCUM - 1:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        opt.zero_grad()
print(f"ctc: loss {loss.item() * ACCUM:.3f}, {len(bucketer.buffers)} buckets")
