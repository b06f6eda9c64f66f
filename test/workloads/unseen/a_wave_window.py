"""Wave equation on a square; a sliding window of frames feeds a running spectrum estimate."""
import time
from collections import deque

import torch

torch.manual_seed(23)
SIZE, STEPS, WINDOW, C2 = 384, 300, 48, 0.2


def laplacian(u):
    out = -4.0 * u
    for dim in (0, 1):
        out += torch.roll(u, 1, dim) + torch.roll(u, -1, dim)
    return out


def spectrum(frames):
    probe = torch.stack([f[::16, ::16] for f in frames])
    return torch.fft.rfft(probe, dim=0).abs().mean(dim=(1, 2))


def main():
    axis = torch.linspace(-1, 1, SIZE, device="cuda")
    r2 = axis[:, None] ** 2 + axis[None, :] ** 2
    prev = torch.exp(-40 * r2)
    u = prev.clone()
    frames = deque(maxlen=WINDOW)
    peaks = []
    running = None
    for step in range(STEPS):
        nxt = 2 * u - prev + C2 * laplacian(u)
        prev, u = u, nxt
        frames.append(u)
        if len(frames) == WINDOW and step % 10 == 0:
            s = spectrum(frames)
            running = s if running is None else 0.9 * running + 0.1 * s
            peaks.append(int(running[1:].argmax()) + 1)
        time.sleep(0.01)
    print("spectra", len(peaks), "last peak bin", peaks[-1], f"amplitude {u.abs().max().item():.5f}")


if __name__ == "__main__":
    main()
