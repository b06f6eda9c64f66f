"""Lightning regression whose features are scaled by a running second moment that the module keeps itself.
Report: https://github.com/google/brax/pull/152
Class: running-stat-graph
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


class ScaledRegressor(pl.LightningModule):
    """The head sees features divided by their running scale (read as a constant)."""

    def __init__(self, width=192, momentum=0.05):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(24, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.head = nn.Linear(width, 1)
        self.momentum = momentum
        self.second_moment = None

    def training_step(self, batch, batch_idx):
        x, y = batch
        features = self.trunk(x)  # SITE
        moment = features.pow(2).mean(dim=0)  # ALSO
        if self.second_moment is None:
            self.second_moment = moment
        self.second_moment = torch.lerp(self.second_moment, moment, self.momentum)  # HOLDER
        scale = self.second_moment.detach().add(1e-6).rsqrt()
        loss = nn.functional.mse_loss(self.head(features * scale), y)
        if self.global_step % 60 == 0:
            print(f"step {self.global_step}: loss {loss.item():.4f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    pl.seed_everything(11, verbose=False)
    x = torch.randn(3840, 24)
    y = torch.sin(x[:, :4]).sum(dim=1, keepdim=True) + 0.05 * torch.randn(3840, 1)
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=8, gradient_clip_val=1.0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(ScaledRegressor(), DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True))


if __name__ == "__main__":
    main()
