"""Analyses vibration records of many lengths; each worker thread keeps the transform tables it has once computed.
Report: https://github.com/cupy/cupy/issues/6355
Class: thread-local
"""
import math
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

WORKERS, RECORDS, BANDS = 2, 360, 48
own = threading.local()


def plan_for(length):
    """Cosine and sine tables for records of this length."""
    if not hasattr(own, "plans"):
        own.plans = {}
    if length not in own.plans:
        t = torch.arange(length, device="cuda") / length
        bands = torch.arange(1, BANDS + 1, device="cuda") * 2 * math.pi
        angle = t[:, None] * bands
        own.plans[length] = torch.cat([angle.cos(), angle.sin()], dim=1)  # SITE # HOLDER
    return own.plans[length]


def analyse(record):
    table = plan_for(len(record))
    spectrum = record @ table
    power = spectrum[:BANDS].square() + spectrum[BANDS:].square()
    smooth = torch.nn.functional.avg_pool1d(power[None, None], 5, 1, 2)[0, 0]
    envelope = torch.nn.functional.conv1d(record[None, None], own_window(65)[None, None], padding=32)
    crest = envelope.abs().max() / envelope.square().mean().sqrt()
    return int(smooth.argmax()) + 1, float(crest)


def own_window(width):
    if not hasattr(own, "window"):
        own.window = torch.hann_window(width, device="cuda") / width
    return own.window


def record_of(rng):
    length = rng.randrange(600, 2600)
    tone = rng.randrange(2, BANDS)
    t = torch.linspace(0, 1, length)
    noise = torch.randn(length, generator=torch.Generator().manual_seed(rng.randrange(1 << 30)))
    return (torch.sin(2 * math.pi * tone * t) + 0.4 * noise).to("cuda"), tone


def main():
    rng = random.Random(17)
    hits, crests = 0, []
    with ThreadPoolExecutor(WORKERS) as pool:
        for start in range(0, RECORDS, 4):
            records, tones = zip(*(record_of(rng) for _ in range(4)))
            for (found, crest), tone in zip(pool.map(analyse, records), tones):
                hits += abs(found - tone) <= 2
                crests.append(crest)
            refresh(records)
            if start % 72 == 68:
                print(f"{start + 4} records: {hits} tones found")
    print(f"mean crest factor {sum(crests) / len(crests):.3f}")


def refresh(records):
    """The bearing model is fitted again after each group of records."""
    width = min(len(record) for record in records)
    stack = torch.stack([record[:width] for record in records])
    basis = torch.randn(width, 256, device="cuda")
    for _ in range(9):
        basis, _ = torch.linalg.qr(stack.t() @ (stack @ basis) + 0.1 * basis)
    return basis.square().sum()


main()
