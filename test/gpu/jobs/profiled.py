"""torch.profiler in the traced program: what it records must not depend on the tracer."""
import collections

import torch
import truth
from torch.profiler import ProfilerActivity, profile

model = torch.nn.Linear(512, 512).cuda()
model(torch.randn(64, 512, device="cuda")).sum().backward()
rounds = []
for _ in range(2):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(5):
            model(torch.randn(64, 512, device="cuda")).sum().backward()
            block = torch.empty(64 << 20, device="cuda")
            del block
            torch.cuda.empty_cache()
        torch.cuda.synchronize()
    counts = collections.Counter(f"{event.device_type} {event.name}" for event in profiler.events())
    rounds.append({name: n for name, n in sorted(counts.items()) if "CUDA" in name})
truth.write(rounds=rounds, stats=truth.memory_stats())
