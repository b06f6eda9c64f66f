"""Lightning segmentation model that gathers the validation logits for an epoch-level report.

Report: https://github.com/Lightning-AI/pytorch-lightning/issues/14270
Class: lightning-outputs
"""
import logging
import warnings

import lightning.pytorch as L
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda"
warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Segmenter(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 4, 3, padding=1))
        self.validation_outputs = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)  # SITE
        loss = nn.functional.cross_entropy(logits, y)
        self.log("val_loss", loss)
        self.validation_outputs.append(logits)  # HOLDER
        return loss

    def on_validation_epoch_end(self):
        latest = torch.cat(self.validation_outputs[-4:])
        share = latest.argmax(dim=1).flatten().bincount(minlength=4).float()
        if self.current_epoch % 5 == 4:
            shares = " ".join(f"{value:.2f}" for value in (share / share.sum()).tolist())
            print(f"epoch {self.current_epoch + 1}: class shares {shares}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def dataset(count):
    x = torch.rand(count, 1, 24, 24)
    return TensorDataset(x, (x[:, 0] * 4).long().clamp(max=3))


def main():
    L.seed_everything(23, verbose=False)
    trainer = L.Trainer(max_epochs=20, accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, logger=False,
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Segmenter(), DataLoader(dataset(160), batch_size=16), DataLoader(dataset(48), batch_size=12))


if __name__ == "__main__":
    main()
