"""Batch queue that turns clips into log-mel summaries in a thread pool."""
import collections
import math
from concurrent.futures import ThreadPoolExecutor, as_completed

import torch

RATE, N_FFT, HOP, MELS = 16000, 1024, 200, 80
DEVICE = torch.device("cuda")


def mel_bank():
    top = 2595 * math.log10(1 + RATE / 2 / 700)
    hz = 700 * (10 ** (torch.linspace(0, top, MELS + 2) / 2595) - 1)
    freqs = torch.linspace(0, RATE / 2, N_FFT // 2 + 1)
    up = (freqs[None] - hz[:-2, None]) / (hz[1:-1] - hz[:-2])[:, None]
    down = (hz[2:, None] - freqs[None]) / (hz[2:] - hz[1:-1])[:, None]
    return torch.minimum(up, down).clamp_min(0).to(DEVICE)


BANK = mel_bank()
WINDOW = torch.hann_window(N_FFT, device=DEVICE)
FLOOR = torch.linalg.eigvalsh(BANK @ BANK.T)[0].item()     # also loads the solver before the threads do


class BadClip(ValueError):
    pass


def synth(job):
    t = torch.arange(RATE * 8, device=DEVICE) / RATE
    gain = 40.0 if job % 7 == 3 else 0.5
    return gain * torch.sin(2 * math.pi * (200 + job % 400) * t) + 0.01 * torch.randn_like(t)


def summarise(job):
    clip = synth(job)
    spec = torch.stft(clip, N_FFT, HOP, window=WINDOW, return_complex=True)
    power = spec.abs() ** 2
    logmel = (BANK @ power).clamp_min(1e-8).log()
    if logmel.max().item() > 12.0:
        raise BadClip(f"clip {job} is saturated")
    for _ in range(6):
        logmel = torch.nn.functional.avg_pool1d(logmel[None], 5, 1, 2)[0]
    cov = torch.cov(logmel)
    return job, torch.linalg.eigvalsh(cov)[-5:].cpu()


class Dispatcher:
    def __init__(self, workers=3):
        self.pool = ThreadPoolExecutor(workers)
        self.rejected = collections.OrderedDict()
        self.done = 0
        self.level = torch.zeros(5)

    def batch(self, jobs):
        futures = {self.pool.submit(summarise, j): j for j in jobs}
        for fut in as_completed(futures):
            try:
                _, top = fut.result()
            except BadClip as exc:
                self.rejected[futures[fut]] = exc
                continue
            self.done += 1
            self.level += top


torch.manual_seed(2)
dispatcher = Dispatcher()
for rnd in range(120):
    dispatcher.batch(range(rnd * 12, rnd * 12 + 12))
dispatcher.pool.shutdown()
reasons = collections.Counter(type(e).__name__ for e in dispatcher.rejected.values())
level = (dispatcher.level / dispatcher.done)[-1] - FLOOR
print(f"done {dispatcher.done}, rejected {dict(reasons)}, level {level:.3f}")
