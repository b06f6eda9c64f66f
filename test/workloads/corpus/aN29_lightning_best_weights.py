"""Lightning regression with a callback that holds the best and the latest weights in memory and restores the best.

Report: https://github.com/Lightning-AI/pytorch-lightning/issues/14270
Class: checkpoint
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


class Regressor(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(24, 256), nn.SiLU(), nn.Linear(256, 256), nn.SiLU(), nn.Linear(256, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.net(x), y), on_epoch=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=2e-3)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)]


class WeightKeeper(L.Callback):
    def __init__(self):
        self.best_loss, self.best, self.latest = float("inf"), None, None

    def on_validation_end(self, trainer, pl_module):
        if trainer.sanity_checking:
            return
        self.latest = {name: value.detach().clone() for name, value in pl_module.state_dict().items()}
        loss = trainer.callback_metrics["val_loss"].item()
        if loss < self.best_loss:
            self.best_loss, self.best = loss, self.latest

    def on_fit_end(self, trainer, pl_module):
        pl_module.load_state_dict(self.best)


def dataset(count):
    x = torch.randn(count, 24)
    return TensorDataset(x, (x[:, :3].sum(dim=1, keepdim=True)).sin())


def main():
    L.seed_everything(28, verbose=False)
    keeper = WeightKeeper()
    trainer = L.Trainer(max_epochs=20, accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, logger=False,
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                        callbacks=[keeper], gradient_clip_val=1.0)
    trainer.fit(Regressor(), DataLoader(dataset(320), batch_size=32, shuffle=True),
                DataLoader(dataset(96), batch_size=32))
    print(f"best validation loss {keeper.best_loss:.4f}")


if __name__ == "__main__":
    main()
