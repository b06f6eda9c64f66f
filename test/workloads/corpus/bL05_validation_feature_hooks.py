"""Image classifier in Lightning that looks at the rank of its penultimate features in each validation.
Report: https://github.com/jacobgil/pytorch-grad-cam/issues/483
Class: hooks
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


class FeatureTap:
    """Collects what a layer puts out."""

    def __init__(self, layer):
        self.features = []
        layer.register_forward_hook(self.collect)  # HOLDER

    def collect(self, module, inputs, output):
        if not module.training:
            self.features.append(output.flatten(1).relu())  # SITE HOLDER

    def rank(self):
        values = torch.linalg.svdvals(torch.cat(self.features))
        return int((values > 0.05 * values[0]).sum())


class SmallConvNet(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(128, 10))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.head(self.features(x)), y)

    def on_validation_epoch_start(self):
        self.tap = FeatureTap(self.features)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.head(self.features(x)), y)

    def on_validation_epoch_end(self):
        if self.current_epoch % 6 == 0:
            print(f"epoch {self.current_epoch}: feature rank {self.tap.rank()}")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


def main():
    pl.seed_everything(3, verbose=False)
    x, y = torch.randn(768, 3, 24, 24), torch.randint(0, 10, (768,))
    train, val = TensorDataset(x[:512], y[:512]), TensorDataset(x[512:], y[512:])
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=25, num_sanity_val_steps=0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(SmallConvNet(), DataLoader(train, batch_size=64, shuffle=True), DataLoader(val, batch_size=64))


if __name__ == "__main__":
    main()
