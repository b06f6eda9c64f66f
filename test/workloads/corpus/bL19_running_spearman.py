"""Regression of sentence similarity; the rank correlation is printed every 60 steps with torchmetrics.
Report: https://github.com/Lightning-AI/torchmetrics/issues/2492
Class: metric-state
"""
import torch
from torch import nn
from torchmetrics import SpearmanCorrCoef


class Trainer:
    def __init__(self, outputs):
        self.model = nn.Sequential(nn.Linear(50, 128), nn.Tanh(), nn.Linear(128, outputs)).to("cuda")
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.spearman = SpearmanCorrCoef(num_outputs=outputs).to("cuda")

    def step(self, x, y):
        prediction = self.model(x)  # SITE
        loss = nn.functional.mse_loss(prediction, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.spearman.update(prediction, y)  # HOLDER
        return loss


def main():
    torch.manual_seed(53)
    outputs = 24
    trainer = Trainer(outputs)
    mixing = torch.randn(50, outputs, device="cuda")
    sentences = torch.randn(2048, 50, device="cuda")
    similarity = torch.tanh(sentences @ mixing / 4) + 0.3 * torch.randn(2048, outputs, device="cuda")
    for step in range(360):
        start = step % 16 * 128
        loss = trainer.step(sentences[start:start + 128], similarity[start:start + 128])
        if step % 60 == 59:
            correlation = trainer.spearman.compute().mean()
            print(f"step {step}: loss {loss.item():.3f}, Spearman {correlation.item():.3f}")


if __name__ == "__main__":
    main()
