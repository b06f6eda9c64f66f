"""Trains an autoencoder with Lightning and summarises training and validation outputs per epoch."""
import logging
import warnings

import torch
import torch.nn.functional as F
from lightning import LightningModule, Trainer, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class AutoEncoder(LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 6))
        self.decoder = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 64))
        self.train_losses = []
        self.val_codes = []
        self.val_errors = []

    def forward(self, x):
        code = self.encoder(x)
        return code, self.decoder(code)

    def training_step(self, batch, batch_idx):
        (x,) = batch
        _, rebuilt = self(x)
        loss = F.mse_loss(rebuilt, x)
        self.train_losses.append(loss.detach())
        return loss

    def on_train_epoch_end(self):
        mean = torch.stack(self.train_losses).mean()
        if self.current_epoch % 4 == 3:
            print(f"epoch {self.current_epoch}: train {mean:.4f}")
        self.train_losses.clear()

    def validation_step(self, batch, batch_idx):
        (x,) = batch
        code, rebuilt = self(x)
        self.val_codes.append(code)
        self.val_errors.append((rebuilt - x).pow(2))

    def on_validation_epoch_end(self):
        codes, errors = torch.cat(self.val_codes), torch.cat(self.val_errors)
        if self.current_epoch % 4 == 3:
            spread = torch.linalg.svdvals(codes - codes.mean(0))[-1]
            print(f"epoch {self.current_epoch}: validation {errors.mean():.4f} smallest axis {spread:.3f}")
        self.val_codes = []
        self.val_errors = []

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


seed_everything(12, verbose=False)
basis = torch.randn(6, 64)
data = torch.randn(2048, 6) @ basis / 2.5 + 0.05 * torch.randn(2048, 64)
trainer = Trainer(
    max_epochs=16,
    accelerator="auto",
    devices=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    num_sanity_val_steps=0,
)
trainer.fit(
    AutoEncoder(),
    DataLoader(TensorDataset(data[:1280]), batch_size=64, shuffle=True),
    DataLoader(TensorDataset(data[1280:]), batch_size=64),
)
