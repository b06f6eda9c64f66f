"""Trains a classifier with Lightning and reports the validation accuracy after each epoch."""
import logging
import warnings

import torch
import torch.nn.functional as F
from lightning import LightningModule, Trainer, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Classifier(LightningModule):
    def __init__(self, features=40, classes=250):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 96), nn.GELU(), nn.LayerNorm(96))
        self.head = nn.Linear(96, classes)
        self.val_logits = []
        self.val_targets = []

    def forward(self, x):
        return self.head(self.body(x))  # SITE

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.val_logits.append(logits)  # HOLDER
        self.val_targets.append(y)

    def on_validation_epoch_end(self):
        correct = seen = 0
        for logits, y in zip(self.val_logits, self.val_targets):
            correct += int((logits.argmax(-1) == y).sum())
            seen += y.numel()
        if self.current_epoch % 3 == 0:
            print(f"epoch {self.current_epoch}: accuracy {correct / seen:.4f} of {seen}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-3)


def split(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 40, generator=g)
    return TensorDataset(x, (x[:, :4].sum(1) * 30).long() % 250)


seed_everything(2, verbose=False)
trainer = Trainer(
    max_epochs=15,
    accelerator="auto",
    devices=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    num_sanity_val_steps=0,
)
trainer.fit(
    Classifier(),
    DataLoader(split(1024, 0), batch_size=64, shuffle=True),
    DataLoader(split(640, 1), batch_size=128),
)
