"""Spectral-gate denoising of synthetic speech-like clips, with a quality report."""
import math

import torch

DEV = "cuda"
RATE, SECONDS, NFFT, HOP = 16_000, 5, 1024, 256
BATCHES, PER_BATCH = 130, 4


class OverdrivenClip(ValueError):
    pass


def make_clip(index):
    t = torch.arange(RATE * SECONDS, device=DEV) / RATE
    pitch = 110 + 7 * (index % 40)
    voice = sum(torch.sin(2 * math.pi * pitch * h * t) / h for h in range(1, 9))
    envelope = torch.sin(2 * math.pi * 1.5 * t).clamp_min(0)
    level = 1.9 if index % 3 == 0 else 0.4
    return level * voice * envelope + 0.05 * torch.randn_like(t)


def denoise(clip, window):
    spec = torch.stft(clip, NFFT, HOP, window=window, return_complex=True)
    mag = spec.abs()
    floor = mag.quantile(0.2, dim=1, keepdim=True)
    if clip.abs().max().item() > 2.0:
        raise OverdrivenClip(f"peak {clip.abs().max().item():.2f} above full scale")
    gain = ((mag - 2.0 * floor) / mag.clamp_min(1e-8)).clamp(0.05, 1.0)
    return torch.istft(spec * gain, NFFT, HOP, window=window, length=clip.numel())


class QualityReport:
    def __init__(self):
        self.snr_sum, self.done = 0.0, 0
        self.rejected = []

    def accept(self, clip, clean):
        noise = (clip - clean).pow(2).mean()
        self.snr_sum += 10 * math.log10((clean.pow(2).mean() / noise.clamp_min(1e-12)).item() + 1e-12)
        self.done += 1

    def reject(self, index, error):
        self.rejected.append((index, error))

    def summary(self):
        reasons = {type(e).__name__ for _, e in self.rejected}
        return f"{self.done} ok (snr {self.snr_sum / self.done:.1f} dB), {len(self.rejected)} rejected {reasons}"


def run(report):
    torch.manual_seed(11)
    window = torch.hann_window(NFFT, device=DEV)
    for batch in range(BATCHES):
        for slot in range(PER_BATCH):
            index = batch * PER_BATCH + slot
            try:
                clip = make_clip(index)
                report.accept(clip, denoise(clip, window))
            except OverdrivenClip as error:
                report.reject(index, error)


report = QualityReport()
run(report)
print(report.summary())
