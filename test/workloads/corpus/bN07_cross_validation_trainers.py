"""Cross-validation with Lightning: a fresh model and Trainer for every fold and every learning rate.
Report: https://github.com/Lightning-AI/pytorch-lightning/issues/2010
Class: trainer-loop
"""
import gc
import logging
import warnings

import lightning.pytorch as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

DEVICE = "cuda"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Regressor(pl.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.net(x), y), batch_size=len(x))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def run_fold(dataset, fold, n_folds, lr):
    indices = torch.arange(len(dataset))
    held_out = indices % n_folds == fold
    train = DataLoader(Subset(dataset, indices[~held_out].tolist()), batch_size=64, shuffle=True)
    val = DataLoader(Subset(dataset, indices[held_out].tolist()), batch_size=64)
    model = Regressor(lr)
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=2, num_sanity_val_steps=0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(model, train, val)
    return trainer.callback_metrics["val_loss"].item()


def main():
    pl.seed_everything(29, verbose=False)
    x = torch.randn(640, 20)
    dataset = TensorDataset(x, (x[:, :3] * x[:, 3:6]).sum(dim=1, keepdim=True))
    results = {}
    for lr in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2):
        scores = [run_fold(dataset, fold, 4, lr) for fold in range(4)]
        gc.collect()  # trainers and models point at each other
        results[lr] = sum(scores) / len(scores)
        print(f"lr {lr}: {results[lr]:.4f}")
    print("best:", min(results, key=results.get))


if __name__ == "__main__":
    main()
