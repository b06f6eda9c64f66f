"""Fits a sequence regressor with Lightning while a callback watches how gradient directions turn."""
import logging
import warnings

import torch
import torch.nn.functional as F
from lightning import Callback, LightningModule, Trainer, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class GradientProbe(Callback):
    def __init__(self, every=3):
        self.every = every
        self.directions = []
        self.cosines = []

    def on_before_optimizer_step(self, trainer, pl_module, optimizer):
        if trainer.global_step % self.every:
            return
        flat = torch.cat([p.grad.reshape(-1) for p in pl_module.parameters() if p.grad is not None])  # SITE
        if self.directions:
            self.cosines.append(F.cosine_similarity(flat, self.directions[-1], dim=0).item())
        self.directions.append(flat)  # HOLDER

    def on_train_epoch_end(self, trainer, pl_module):
        recent = self.cosines[-10:]
        print(f"epoch {trainer.current_epoch}: mean turn {sum(recent) / len(recent):.4f}")


class Regressor(LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 64, batch_first=True)
        self.out = nn.Linear(64, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        hidden, _ = self.rnn(x)
        return F.mse_loss(self.out(hidden[:, -1]).squeeze(-1), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


def main():
    seed_everything(8, verbose=False)
    x = torch.randn(640, 20, 8)
    y = x[:, :, 0].mean(1) - x[:, -1, 1]
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
    trainer = Trainer(
        max_epochs=9,
        accelerator="auto",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[GradientProbe()],
    )
    trainer.fit(Regressor(), loader)


main()
