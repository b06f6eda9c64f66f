"""A sweep with Lightning: one trainer a setting, and one callback that remembers how each run ended.
Report: https://github.com/Lightning-AI/pytorch-lightning/issues/8430
Class: lightning-callback
"""
import logging
import random
import warnings

import torch
from lightning import Callback, LightningModule, Trainer, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

RUNS = 64


class Regressor(LightningModule):
    def __init__(self, rate, drop):
        super().__init__()
        self.rate = rate
        self.net = nn.Sequential(nn.Linear(64, 352), nn.SiLU(), nn.Dropout(drop), nn.Linear(352, 352), nn.SiLU())
        self.head = nn.Linear(352, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.head(self.net(x)), y)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.rate, momentum=0.9)


class RunBook(Callback):
    def __init__(self):
        self.runs = []

    def on_train_end(self, trainer, pl_module):
        weights = {name: p.detach().clone() for name, p in pl_module.named_parameters()}  # SITE
        self.runs.append((trainer.callback_metrics["loss"].item(), weights))  # HOLDER

    def best(self):
        return min(range(len(self.runs)), key=lambda number: self.runs[number][0])


def data():
    gen = torch.Generator().manual_seed(70)
    x = torch.randn(384, 64, generator=gen)
    y = (x[:, :3] * 2).sin().sum(1, keepdim=True)
    return TensorDataset(x, y)


def main():
    seed_everything(70, verbose=False)
    rng = random.Random(70)
    book, loader = RunBook(), DataLoader(data(), batch_size=48, shuffle=True)
    for run in range(RUNS):
        rate, drop = 10 ** rng.uniform(-3, -1.2), rng.choice([0.0, 0.1, 0.3])
        trainer = Trainer(
            max_epochs=2,
            accelerator="auto",
            devices=1,
            logger=False,
            callbacks=[book],
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(Regressor(rate, drop), loader)
        if run % 16 == 15:
            number = book.best()
            print(f"{run + 1} runs: the best is number {number} with loss {book.runs[number][0]:.4f}")


main()
