"""Neural flow matching in Lightning; the sinusoidal time embeddings are cached because they are asked for so often.
Report: https://github.com/huggingface/transformers/pull/45708
Class: lru_cache
"""
import functools
import logging
import math
import random
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class FlowMatching(pl.LightningModule):
    def __init__(self, dim=2, hidden=128, bands=2048):
        super().__init__()
        self.bands = bands
        self.time_proj = nn.Linear(2 * bands, hidden)
        self.inp = nn.Linear(dim, hidden)
        self.body = nn.Sequential(nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, dim))

    @functools.lru_cache(maxsize=None)  # HOLDER
    def time_embedding(self, t):
        freqs = torch.arange(self.bands, device=self.device).mul(-math.log(1e4) / self.bands).exp()
        angles = 1000.0 * t * freqs
        return torch.cat([angles.sin(), angles.cos()])  # SITE

    def training_step(self, batch, batch_idx):
        (x1,) = batch
        t = random.random()
        x0 = torch.randn_like(x1)
        xt = (1 - t) * x0 + t * x1
        hidden = self.inp(xt) + self.time_proj(self.time_embedding(t))
        loss = (self.body(hidden) - (x1 - x0)).pow(2).mean()
        if self.global_step % 80 == 0:
            print(f"step {self.global_step}: loss {loss.item():.4f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    pl.seed_everything(2, verbose=False)
    angle = torch.rand(5120) * 2 * math.pi
    data = torch.stack([angle.cos(), angle.sin()], dim=1)
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=8,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(FlowMatching(), DataLoader(TensorDataset(data), batch_size=128, shuffle=True))


if __name__ == "__main__":
    main()
