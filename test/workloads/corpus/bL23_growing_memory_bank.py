"""Contrastive learning against a memory bank of keys that a momentum encoder has made.
Report: https://github.com/HobbitLong/RepDistiller/issues/40
Class: buffer-cat
"""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class MomentumContrast(nn.Module):
    def __init__(self, encoder, dim, momentum=0.99, temperature=0.1):
        super().__init__()
        self.query_encoder = encoder
        self.key_encoder = copy.deepcopy(encoder).requires_grad_(False)
        self.momentum, self.temperature = momentum, temperature
        self.register_buffer("bank", F.normalize(torch.randn(64, dim), dim=1))

    @torch.no_grad()
    def update_keys(self, keys):
        for k, q in zip(self.key_encoder.parameters(), self.query_encoder.parameters()):
            k.lerp_(q, 1 - self.momentum)
        self.bank = torch.cat([self.bank, keys])  # SITE HOLDER

    def forward(self, first, second):
        q = F.normalize(self.query_encoder(first), dim=1)
        with torch.no_grad():
            k = F.normalize(self.key_encoder(second), dim=1)
        positive = (q * k).sum(dim=1, keepdim=True)
        negative = q @ self.bank.T
        logits = torch.cat([positive, negative], dim=1) / self.temperature
        loss = F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long, device=q.device))
        self.update_keys(k)
        return loss


def main():
    torch.manual_seed(73)
    encoder = nn.Sequential(nn.Linear(100, 256), nn.ReLU(), nn.Linear(256, 96))
    model = MomentumContrast(encoder, dim=96).to("cuda")
    optimizer = torch.optim.SGD(model.query_encoder.parameters(), lr=0.05, momentum=0.9)
    for step in range(320):
        base = torch.randn(32, 100, device="cuda")
        views = [base + 0.3 * torch.randn_like(base) for _ in range(2)]
        loss = model(*views)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 80 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
