"""A training loop that keeps one tensor a step, long enough to be attached to; prints a number that any change would change."""
import hashlib
import os
import sys
import time

import torch
import truth

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept, digest = [], hashlib.sha256()


def step(batch):
    hidden = model[1](model[0](batch))
    kept.append(hidden.detach() * 2)  # LEAK
    loss = model[2](hidden).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for i in range(int(os.environ.get("STEPS", "600"))):
    digest.update(repr(step(torch.randn(512, 256, device="cuda"))).encode())
    time.sleep(0.005)
    if i == 50:
        print("under way", flush=True)
if "GMT_TRUTH" in os.environ:
    truth.write(stats=truth.memory_stats())
print(digest.hexdigest())
sys.stdout.flush()
