"""Lightning with gradient accumulation, a weight average that starts late, and the worst examples of each epoch.
Report: https://github.com/Lightning-AI/pytorch-lightning/issues/9441
Class: callback-outputs
"""
import heapq
import itertools
import logging
import warnings

import torch
from lightning import Callback, LightningModule, Trainer, seed_everything
from lightning.pytorch.callbacks import StochasticWeightAveraging
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

EPOCHS, SIDE = 12, 32


class Denoiser(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 1, 3, padding=1),
        )

    def training_step(self, batch, batch_idx):
        noisy, clean = batch
        return nn.functional.mse_loss(noisy - self.net(noisy), clean)

    def validation_step(self, batch, batch_idx):
        noisy, clean = batch
        restored = noisy - self.net(noisy)
        errors = (restored - clean).square().mean(dim=(1, 2, 3))
        self.log("error", errors.mean(), on_epoch=True)
        return {"restored": restored, "errors": errors}

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


class WorstExamples(Callback):
    """The pictures with the largest errors of an epoch, and the outputs of all its batches for a histogram."""

    def __init__(self, count):
        self.count = count
        self.worst = []
        self.outputs = []
        self.ties = itertools.count()

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        self.outputs.append(outputs)
        for error, picture in zip(outputs["errors"].tolist(), outputs["restored"]):
            entry = (error, next(self.ties), picture.clone())
            if len(self.worst) < self.count:
                heapq.heappush(self.worst, entry)
            else:
                heapq.heappushpop(self.worst, entry)

    def on_validation_epoch_end(self, trainer, pl_module):
        errors = torch.cat([output["errors"] for output in self.outputs])
        if trainer.current_epoch % 3 == 2:
            low, high = errors.quantile(torch.tensor([0.1, 0.9], device=errors.device)).tolist()
            worst = self.worst[0][0]
            print(f"epoch {trainer.current_epoch}: errors {low:.5f} to {high:.5f}, worst {worst:.5f} and more")
        self.outputs.clear()
        self.worst.clear()


def pictures(count, seed):
    gen = torch.Generator().manual_seed(seed)
    rough = torch.rand(count, 1, 6, 6, generator=gen)
    clean = nn.functional.interpolate(rough, size=(SIDE, SIDE), mode="bicubic")
    return TensorDataset(clean + 0.25 * torch.randn(count, 1, SIDE, SIDE, generator=gen), clean)


def main():
    seed_everything(80, verbose=False)
    trainer = Trainer(
        max_epochs=EPOCHS,
        accelerator="auto",
        devices=1,
        accumulate_grad_batches=2,
        callbacks=[WorstExamples(24), StochasticWeightAveraging(swa_lrs=1e-3, swa_epoch_start=6)],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    train = DataLoader(pictures(480, 1), batch_size=24, shuffle=True)
    trainer.fit(Denoiser(), train, DataLoader(pictures(320, 2), batch_size=32))


main()
