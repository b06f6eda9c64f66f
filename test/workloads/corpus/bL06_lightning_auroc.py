"""Species classifier in Lightning with the average precision over the validation set as its metric.
Report: https://github.com/Lightning-AI/torchmetrics/issues/3294
Class: metric-state
"""
import logging
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy, MulticlassAveragePrecision

DEVICE = "cuda"
NUM_CLASSES = 40
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class SpeciesModel(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(48, 200), nn.ReLU(), nn.Dropout(0.1), nn.Linear(200, NUM_CLASSES))
        self.train_acc = MulticlassAccuracy(NUM_CLASSES)
        self.val_ap = MulticlassAveragePrecision(NUM_CLASSES)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.train_acc(logits, y)
        self.log("train_acc", self.train_acc, on_step=False, on_epoch=True)
        return nn.functional.cross_entropy(logits, y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.val_ap.update(self.net(x), y)  # SITE HOLDER

    def on_validation_epoch_end(self):
        score = self.val_ap.compute()
        self.log("val_ap", score)
        if self.current_epoch % 5 == 0:
            print(f"epoch {self.current_epoch}: validation AP {score:.3f}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


def main():
    pl.seed_everything(21, verbose=False)
    centres = torch.randn(NUM_CLASSES, 48)
    y = torch.randint(0, NUM_CLASSES, (2400,))
    x = centres[y] + 1.5 * torch.randn(2400, 48)
    train, val = TensorDataset(x[:1600], y[:1600]), TensorDataset(x[1600:], y[1600:])
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=20, num_sanity_val_steps=0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    train_loader, val_loader = DataLoader(train, batch_size=160, shuffle=True), DataLoader(val, batch_size=160)
    trainer.fit(SpeciesModel(), train_loader, val_loader)  # ALSO


if __name__ == "__main__":
    main()
