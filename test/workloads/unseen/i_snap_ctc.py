"""CTC speech toy: length curriculum, weight averaging and a window of recent posteriors."""
import copy
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.cuda.memory._record_memory_history(max_entries=200000)
DEV = "cuda"
MELS, SYMBOLS, BATCH, STEPS = 80, 64, 24, 110


class Acoustic(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.front = nn.Conv1d(MELS, width, 5, stride=2, padding=2)
        self.stack = nn.ModuleList(nn.Conv1d(width, width, 9, padding=4, groups=8) for _ in range(5))
        self.mix = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(5))
        self.out = nn.Linear(width, SYMBOLS)

    def forward(self, mel):
        h = F.relu(self.front(mel))
        for wide, mix in zip(self.stack, self.mix):
            h = h + mix(F.relu(wide(h)))
        return self.out(h.transpose(1, 2)).log_softmax(-1)


def utterances(codebook, symbols):
    target = torch.randint(1, SYMBOLS, (BATCH, symbols), device=DEV)
    mel = codebook[target].repeat_interleave(8, dim=1).transpose(1, 2)
    return mel + 0.3 * torch.randn_like(mel), target


def main():
    torch.manual_seed(0)
    codebook = torch.randn(SYMBOLS, MELS, device=DEV)
    net, shadow = Acoustic().to(DEV), None
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    recent = deque(maxlen=24)
    for step in range(STEPS):
        mel, target = utterances(codebook, symbols=min(20 + 2 * step, 100))
        logp = net(mel)
        frames = torch.full((BATCH,), logp.shape[1], dtype=torch.long)
        lengths = torch.full((BATCH,), target.shape[1], dtype=torch.long)
        loss = F.ctc_loss(logp.transpose(0, 1), target, frames, lengths)
        opt.zero_grad()
        loss.backward()
        opt.step()
        recent.append(logp.detach())
        if step == 30:
            shadow = copy.deepcopy(net)
        elif shadow is not None:
            torch._foreach_lerp_([p.data for p in shadow.parameters()], [p.data for p in net.parameters()], 0.05)
    blank = torch.stack([p[..., 0].exp().mean() for p in recent]).mean().item()
    torch.cuda.memory._dump_snapshot("i_snap_ctc.pickle")
    print(f"loss {loss.item():.3f} blank share {blank:.3f}")


main()
