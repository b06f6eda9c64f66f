"""Trains, and evaluates after every third step; says itself when which part ran, and what the most was in each step."""
import time

import torch
import truth

model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)) for _ in range(4)]).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
PAUSE = 0.03
parts = []
peaks = []


def part(name, work):
    torch.cuda.synchronize()
    begin = time.time()
    out = work()
    torch.cuda.synchronize()
    time.sleep(PAUSE)
    parts.append([name, begin, time.time()])
    return out


def evaluate():
    with torch.no_grad():
        return model(torch.randn(64, 256, device="cuda")).mean()


def peak():
    return torch.cuda.max_memory_allocated() if torch.cuda.is_available() else None


for step in range(9):
    torch.cuda.reset_peak_memory_stats()
    x = torch.randn(512, 256, device="cuda")
    loss = part("forward", lambda: (model(x) - x).pow(2).mean())
    part("backward", loss.backward)
    part("optimizer", optimizer.step)
    peaks.append(peak())
    optimizer.zero_grad()
    del loss
    if step % 3 == 2:
        part("evaluation", evaluate)
truth.write(parts=parts, peaks=peaks)
