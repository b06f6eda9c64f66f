"""Monitors sensor data with an online autoencoder and compares with a sliding window of recent codes.

Class: window
"""
from collections import deque

import torch
import torch.nn as nn


class Monitor:
    def __init__(self, channels=64, window=80):
        self.encode = nn.GRU(channels, 64, batch_first=True).to("cuda")
        self.decode = nn.Linear(64, channels).to("cuda")
        self.optimizer = torch.optim.Adam([*self.encode.parameters(), *self.decode.parameters()], lr=2e-3)
        self.codes = deque(maxlen=window)
        self.errors = deque(maxlen=window)

    def feed(self, signal):
        codes, _ = self.encode(signal)
        error = (self.decode(codes[:, :-1]) - signal[:, 1:]).pow(2).mean()
        self.optimizer.zero_grad()
        error.backward()
        self.optimizer.step()
        self.codes.append(codes.detach().mean(dim=1))
        self.errors.append(error.detach())

    def alarm(self):
        """How far the latest code is off the window, and the latest error relative to the window."""
        history = torch.stack(list(self.codes)[:-1])
        distance = (self.codes[-1] - history.mean(dim=0)).norm(dim=-1).mean()
        return (distance * self.errors[-1] / torch.stack(list(self.errors)).mean()).item()


def main():
    torch.manual_seed(23)
    monitor = Monitor()
    phase, alarms = torch.rand(16, 1, 64, device="cuda") * 6, 0
    time = torch.arange(24, device="cuda").view(1, -1, 1)
    for step in range(240):
        signal = torch.sin(phase + 0.3 * (time + step)) + 0.1 * torch.randn(16, 24, 64, device="cuda")
        if step % 50 == 49:
            signal = signal * 2
        monitor.feed(signal)
        if step > 5 and monitor.alarm() > 1.5:
            alarms += 1
        if step % 60 == 59:
            print(f"step {step + 1}: error {monitor.errors[-1].item():.4f}, {alarms} alarms")


if __name__ == "__main__":
    main()
