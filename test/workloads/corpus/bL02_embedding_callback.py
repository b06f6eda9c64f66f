"""Metric learning in Lightning with a callback that watches the spread of the embeddings during the training.
Report: https://github.com/microsoft/hi-ml/pull/293
Class: callback-outputs
"""
import logging
import warnings

import lightning.pytorch as pl
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class EmbeddingMonitor(pl.Callback):
    """Prints how far the embeddings are spread, every `every` batches."""

    def __init__(self, every=40):
        self.every = every
        self.embeddings = []

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.embeddings.append(outputs["embedding"])  # HOLDER
        if trainer.global_step % self.every == 0:
            spread = torch.cat(self.embeddings[-self.every:]).std(dim=0).mean()
            print(f"step {trainer.global_step}: spread {spread:.4f}")


class TripletModel(pl.LightningModule):
    def __init__(self, dim=128):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, dim))
        self.loss = nn.TripletMarginLoss(margin=0.2)

    def training_step(self, batch, batch_idx):
        (views,) = batch
        anchor, positive, negative = self.encoder(views).unbind(dim=1)  # SITE
        loss = self.loss(F.normalize(anchor, dim=-1), F.normalize(positive, dim=-1), F.normalize(negative, dim=-1))
        return {"loss": loss, "embedding": anchor}

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=3e-4)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)}


pl.seed_everything(7, verbose=False)
base = torch.randn(2048, 1, 64)
views = torch.cat([base, base + 0.1 * torch.randn_like(base), torch.randn_like(base)], dim=1)
loader = DataLoader(TensorDataset(views), batch_size=64, shuffle=True)
trainer = pl.Trainer(
    accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=6, callbacks=[EmbeddingMonitor()],
    logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
)
trainer.fit(TripletModel(), loader)
