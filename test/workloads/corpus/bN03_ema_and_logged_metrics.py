"""Lightning classifier with an EMA of its weights for validation, accuracy metrics and a cosine schedule.
Report: https://github.com/Lightning-AI/pytorch-lightning/issues/8215
Class: ema
"""
import copy
import logging
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

DEVICE = "cuda"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class WeightEma(pl.Callback):
    """Keeps an averaged copy of the network; validation runs with it."""

    def __init__(self, decay=0.98):
        self.decay = decay
        self.ema = None

    def on_train_start(self, trainer, pl_module):
        self.ema = copy.deepcopy(pl_module.net)

    @torch.no_grad()
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        for e, p in zip(self.ema.parameters(), pl_module.net.parameters()):
            e.lerp_(p, 1 - self.decay)

    def on_validation_epoch_start(self, trainer, pl_module):
        pl_module.net, self.ema = self.ema, pl_module.net

    def on_validation_epoch_end(self, trainer, pl_module):
        pl_module.net, self.ema = self.ema, pl_module.net


class Classifier(pl.LightningModule):
    def __init__(self, num_classes=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(60, 384), nn.GELU(), nn.Linear(384, 384), nn.GELU(), nn.Linear(384, num_classes)
        )
        self.train_acc = MulticlassAccuracy(num_classes)
        self.val_acc = MulticlassAccuracy(num_classes)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        loss = nn.functional.cross_entropy(logits, y, label_smoothing=0.1)
        self.train_acc(logits, y)
        self.log("train_loss", loss)
        self.log("train_acc", self.train_acc, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.val_acc.update(self.net(x), y)
        self.log("val_acc", self.val_acc)

    def on_train_epoch_end(self):
        metrics = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch}: train {metrics['train_acc']:.3f} val {metrics['val_acc']:.3f}")

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-3, weight_decay=0.05)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)]


def main():
    pl.seed_everything(31, verbose=False)
    centres = torch.randn(12, 60)
    y = torch.randint(0, 12, (3200,))
    x = centres[y] + 2.5 * torch.randn(3200, 60)
    train, val = TensorDataset(x[:2560], y[:2560]), TensorDataset(x[2560:], y[2560:])
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=8, callbacks=[WeightEma()],
        num_sanity_val_steps=0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(Classifier(), DataLoader(train, batch_size=64, shuffle=True), DataLoader(val, batch_size=64))


if __name__ == "__main__":
    main()
