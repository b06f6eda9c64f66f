"""Lightning classifier which gathers the validation logits of an epoch, reports on them and clears the list.

Report: https://github.com/Lightning-AI/pytorch-lightning/issues/5735
Class: lightning-outputs
"""
import logging
import warnings

import lightning.pytorch as L
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

DEVICE = "cuda"
warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Classifier(L.LightningModule):
    def __init__(self, classes=5):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                                 nn.Flatten(), nn.Linear(32 * 5 * 5, classes))
        self.accuracy = MulticlassAccuracy(num_classes=classes)
        self.collected = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.accuracy(logits, y)
        self.log("val_accuracy", self.accuracy, on_epoch=True)
        self.collected.append(logits)

    def on_validation_epoch_end(self):
        confidence = torch.cat(self.collected).softmax(dim=1).amax(dim=1).mean().item()
        self.collected.clear()
        if self.current_epoch % 6 == 5:
            print(f"epoch {self.current_epoch + 1}: mean confidence {confidence:.3f}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


def dataset(count):
    x = torch.rand(count, 1, 24, 24)
    return TensorDataset(x, x[:, 0, :5, :].mean(dim=2).argmax(dim=1))


if __name__ == "__main__":
    L.seed_everything(25, verbose=False)
    trainer = L.Trainer(max_epochs=24, accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, logger=False,
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Classifier(), DataLoader(dataset(256), batch_size=32, shuffle=True),
                DataLoader(dataset(64), batch_size=16))
