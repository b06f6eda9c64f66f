"""Lightning training with a callback that averages the weights of the last epochs for the final evaluation.
Class: snapshots
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


class LastEpochsAverage(pl.Callback):
    """Averages the weights of the last `k` epochs when the training has ended."""

    def __init__(self, k=5):
        self.k = k
        self.snapshots = []

    def on_train_epoch_end(self, trainer, pl_module):
        state = {name: value.clone() for name, value in pl_module.state_dict().items()}  # SITE
        self.snapshots.append(state)  # HOLDER

    @torch.no_grad()
    def on_train_end(self, trainer, pl_module):
        last = self.snapshots[-self.k:]
        for name, value in pl_module.state_dict().items():
            value.copy_(torch.stack([s[name].float() for s in last]).mean(dim=0))
        print(f"averaged the last {len(last)} epochs")


class Autoencoder(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(96, 128), nn.ReLU(), nn.Linear(128, 16))
        self.decoder = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 96))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        loss = nn.functional.mse_loss(self.decoder(self.encoder(x)), x)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def on_train_epoch_end(self):
        if self.current_epoch % 10 == 0:
            print(f"epoch {self.current_epoch}: loss {self.trainer.callback_metrics['train_loss']:.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


def main():
    pl.seed_everything(5, verbose=False)
    data = torch.randn(640, 12) @ torch.randn(12, 96)
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=60, callbacks=[LastEpochsAverage(k=5)],
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(Autoencoder(), DataLoader(TensorDataset(data), batch_size=128, shuffle=True))


if __name__ == "__main__":
    main()
