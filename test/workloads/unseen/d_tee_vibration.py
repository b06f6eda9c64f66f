"""Vibration monitoring: dominant mode of each sensor window against the first one."""
import itertools
import math

import torch

DEVICE = "cuda"
WINDOWS = 25
CHANNELS = 512
SAMPLES = 4096
SWEEPS = 5000


def windows(count):
    t = torch.arange(SAMPLES, device=DEVICE) / 1000.0
    shape = torch.randn(CHANNELS, 3, device=DEVICE)
    for k in range(count):
        freq = torch.tensor([13.0, 31.0 + 0.2 * k, 57.0], device=DEVICE)
        modes = torch.sin(2 * math.pi * freq[:, None] * t)
        yield torch.addmm(torch.randn(CHANNELS, SAMPLES, device=DEVICE), shape, modes, beta=0.3)


def dominant_mode(window):
    spectrum = torch.fft.rfft(window * torch.hann_window(SAMPLES, device=DEVICE))
    power = spectrum.abs()
    gram = power @ power.T / SAMPLES
    v = torch.ones(CHANNELS, device=DEVICE) / math.sqrt(CHANNELS)
    for _ in range(SWEEPS):
        v = gram @ v
        v = v / v.norm()
    return v, (v @ gram @ v).item()


torch.manual_seed(7)
live, baseline = itertools.tee(windows(WINDOWS))
modes, energies = [], []
for window in live:
    mode, energy = dominant_mode(window)
    modes.append(mode.cpu())
    energies.append(energy)
reference, _ = dominant_mode(next(baseline))
match = [float(m @ reference.cpu()) for m in modes]
print(f"{len(match)} windows, energy {energies[0]:.1f} -> {energies[-1]:.1f}, "
      f"worst match {min(match):.4f}")
