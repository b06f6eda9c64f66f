"""Autoencoder in Lightning; a callback samples embeddings for a scatter plot once the first epochs are over.

Report: https://github.com/Lightning-AI/pytorch-lightning/issues/8583
Class: lightning-callback
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


class AutoEncoder(L.LightningModule):
    def __init__(self, dim=128, code=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, code))
        self.decoder = nn.Sequential(nn.Linear(code, 128), nn.ReLU(), nn.Linear(128, dim))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        code = self.encoder(x)  # SITE
        loss = nn.functional.mse_loss(self.decoder(code), x)
        return {"loss": loss, "code": code}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


class ScatterPlot(L.Callback):
    """Embeddings of the first epochs are noise, so they are skipped."""

    def __init__(self, skip_epochs=6):
        self.skip_epochs = skip_epochs
        self.points = []

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.current_epoch >= self.skip_epochs and batch_idx % 2 == 0:
            self.points.append(outputs["code"])  # HOLDER

    def on_train_epoch_end(self, trainer, pl_module):
        if self.points and trainer.current_epoch % 4 == 3:
            spread = torch.cat(self.points[-5:]).std(dim=0).mean().item()
            print(f"epoch {trainer.current_epoch + 1}: spread {spread:.3f}")


def main():
    L.seed_everything(24, verbose=False)
    basis = torch.randn(16, 128)
    data = TensorDataset(torch.randn(640, 16) @ basis)
    trainer = L.Trainer(max_epochs=20, accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, logger=False,
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                        callbacks=[ScatterPlot()])
    trainer.fit(AutoEncoder(), DataLoader(data, batch_size=32, shuffle=True))


if __name__ == "__main__":
    main()
