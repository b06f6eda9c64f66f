"""Audio pipeline of generator stages with tracing spans: mel, then phase recovery."""
import contextvars
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

DEV = "cuda"
TRACE = contextvars.ContextVar("trace_spans", default=())
N_FFT, HOP = 1024, 256
window = torch.hann_window(N_FFT, device=DEV)


@dataclass
class Span:
    name: str
    payload: object = None
    start: float = field(default_factory=time.perf_counter)
    end: float = 0.0


@contextmanager
def span(name, payload=None):
    s = Span(name, payload)
    TRACE.set(TRACE.get() + (s,))
    try:
        yield s
    finally:
        s.end = time.perf_counter()


def source(n_clips):
    t = torch.arange(48000, device=DEV) / 16000
    for i in range(n_clips):
        f0 = 110 * (1 + torch.rand(3, 1, device=DEV))
        yield i, (6.283 * f0 * t).sin() + 0.05 * torch.randn(3, 48000, device=DEV)


def magnitudes(stream):
    for i, wav in stream:
        spec = torch.stft(wav, N_FFT, HOP, window=window, return_complex=True)
        yield i, spec.abs()


def denoise(stream):
    for i, mag in stream:
        floor = mag.median(dim=2, keepdim=True).values
        clean = (mag - 0.5 * floor).clamp_min(0)
        with span("denoise", payload=clean) as s:
            s.name = f"denoise/{i}"
            yield i, clean


def griffin_lim(stream, n_iter=24):
    for i, mag in stream:
        angle = torch.polar(torch.ones_like(mag), 6.283 * torch.rand_like(mag))
        for _ in range(n_iter):
            wav = torch.istft(mag * angle, N_FFT, HOP, window=window, length=48000)
            spec = torch.stft(wav, N_FFT, HOP, window=window, return_complex=True)
            angle = spec / spec.abs().clamp_min(1e-6)
        yield i, wav


if __name__ == "__main__":
    torch.manual_seed(0)
    count, power = 0, 0.0
    for i, wav in griffin_lim(denoise(magnitudes(source(300)))):
        count += 1
        power += wav.pow(2).mean().item()
    total = sum(s.end - s.start for s in TRACE.get())
    print(f"{count} clips, mean power {power / count:.4f}, traced {total:.1f}s")
