"""Trains a tabular classifier with Lightning and prints the calibration of its validation logits at each epoch.
Report: https://github.com/Lightning-AI/pytorch-lightning/pull/16520
Class: epoch-outputs
"""
import logging
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class TabularClassifier(pl.LightningModule):
    def __init__(self, n_features=40, n_classes=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_features, 256), nn.BatchNorm1d(256), nn.ReLU(),
            nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, n_classes),
        )
        self.criterion = nn.CrossEntropyLoss()
        self.validation_step_outputs = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        return self.criterion(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)  # SITE
        self.validation_step_outputs.append(logits)  # HOLDER
        return self.criterion(logits, y)

    def on_validation_epoch_end(self):
        logits = torch.cat(self.validation_step_outputs)
        confidence = logits.softmax(dim=-1).amax(dim=-1).mean()
        if self.current_epoch % 5 == 0:
            print(f"epoch {self.current_epoch}: mean confidence {confidence:.3f}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def make_loader(n, batch_size, shuffle):
    x = torch.randn(n, 40)
    y = (x[:, :6] > 0).long() @ torch.tensor([1, 2, 4, 8, 16, 32])
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, shuffle=shuffle)


def main():
    pl.seed_everything(1, verbose=False)
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=24, num_sanity_val_steps=0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(TabularClassifier(), make_loader(2560, 256, True), make_loader(1280, 256, False))


if __name__ == "__main__":
    main()
