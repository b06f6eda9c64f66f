"""Trains a tiny segmentation net with Lightning; the validation logits of an epoch are collected for one threshold.
Report: https://github.com/Lightning-AI/pytorch-lightning/issues/8453
Class: epoch-outputs
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


class Segmenter(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 1)
        )
        self.criterion = nn.BCEWithLogitsLoss()
        self.outputs = {"logits": [], "masks": []}
        self.threshold_history = []

    def training_step(self, batch, batch_idx):
        image, mask = batch
        return self.criterion(self.net(image), mask)

    def validation_step(self, batch, batch_idx):
        image, mask = batch
        self.outputs["logits"].append(self.net(image))
        self.outputs["masks"].append(mask)

    def on_validation_epoch_end(self):
        logits, masks = torch.cat(self.outputs["logits"]), torch.cat(self.outputs["masks"])
        best, best_dice = 0.0, 0.0
        for threshold in torch.linspace(-2, 2, 9).tolist():
            pred = (logits > threshold).float()
            dice = (2 * (pred * masks).sum() / (pred.sum() + masks.sum() + 1e-6)).item()
            if dice > best_dice:
                best, best_dice = threshold, dice
        self.threshold_history.append((best, best_dice))
        for values in self.outputs.values():
            values.clear()
        if self.current_epoch % 4 == 0:
            print(f"epoch {self.current_epoch}: dice {best_dice:.3f} at {best:.1f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)


def main():
    pl.seed_everything(4, verbose=False)
    grid = torch.stack(torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij"))
    centres = torch.rand(480, 2, 1, 1) * 32
    masks = ((grid - centres).norm(dim=1, keepdim=True) < 8).float()
    images = masks + 0.7 * torch.randn_like(masks)
    train, val = TensorDataset(images[:320], masks[:320]), TensorDataset(images[320:], masks[320:])
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=16, num_sanity_val_steps=0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(Segmenter(), DataLoader(train, batch_size=32, shuffle=True), DataLoader(val, batch_size=32))


if __name__ == "__main__":
    main()
