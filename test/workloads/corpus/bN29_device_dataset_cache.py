"""Trains on spectrograms that are computed when first needed and then stay on the device; weights are averaged (SWA).
Report: https://github.com/MoonshotAI/Kimi-Audio/issues/117
Class: dataset-cache
"""
import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel

CLIPS = 840


class CachedSpectrograms:
    """All clips fit on the device, so each is transformed only once."""

    def __init__(self, count):
        self.count = count
        self.cache = {}

    def __getitem__(self, index):
        if index not in self.cache:
            generator = torch.Generator().manual_seed(index)
            time = torch.arange(2048) / 2048
            pitch = 40 + 20 * (index % 8)
            clip = torch.sin(2 * torch.pi * pitch * time) + 0.5 * torch.randn(2048, generator=generator)
            spectrum = torch.stft(clip.to("cuda"), 128, hop_length=32, window=torch.hann_window(128, device="cuda"),
                                  return_complex=True).abs()
            self.cache[index] = spectrum.log1p()
        return self.cache[index], index % 8


def main():
    torch.manual_seed(163)
    data = CachedSpectrograms(CLIPS)
    model = nn.Sequential(
        nn.Conv1d(65, 48, 3), nn.ReLU(), nn.Conv1d(48, 48, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
        nn.Flatten(), nn.Linear(48, 8),
    ).to("cuda")
    averaged = AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = SWALR(optimizer, swa_lr=0.02, anneal_epochs=40)
    order = torch.randperm(CLIPS).tolist()
    for step in range(360):
        # New clips come in until the list is through (step 280), then known ones in any order.
        fresh = order[3 * step:3 * step + 3]
        known = torch.randint(0, CLIPS, (12 - len(fresh),)).tolist()
        known = [order[k % min(CLIPS, 3 * step + 3)] for k in known]
        pairs = [data[i] for i in fresh + known]
        x, y = torch.stack([p[0] for p in pairs]), torch.tensor([p[1] for p in pairs], device="cuda")
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step > 120:
            averaged.update_parameters(model)
            scheduler.step()
        if step % 72 == 0:
            print(f"step {step}: loss {loss.item():.3f}, {len(data.cache)} clips on the device")


if __name__ == "__main__":
    main()
