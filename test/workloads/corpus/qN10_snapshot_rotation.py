"""Trains a forecaster with Lightning while callbacks keep snapshots, the best state and an averaged model."""
import copy
import logging
import warnings

import torch
import torch.nn.functional as F
from lightning import Callback, LightningModule, Trainer, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Snapshots(Callback):
    def __init__(self, keep=3, every=15):
        self.keep, self.every = keep, every
        self.states = []
        self.best = (float("inf"), None)
        self.shadow = None

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if self.shadow is None:
            self.shadow = copy.deepcopy(pl_module.net).requires_grad_(False)
        for slow, fast in zip(self.shadow.parameters(), pl_module.net.parameters()):
            slow.lerp_(fast.detach(), 0.05)
        if trainer.global_step % self.every == 0:
            state = {k: v.detach().clone() for k, v in pl_module.net.state_dict().items()}
            self.states.append((trainer.global_step, state))
            if len(self.states) > self.keep:
                self.states.pop(0)

    def on_validation_epoch_end(self, trainer, pl_module):
        loss = trainer.callback_metrics["val"].item()
        if loss < self.best[0]:
            self.best = (loss, copy.deepcopy(pl_module.net.state_dict()))
        if trainer.current_epoch % 3 == 2:
            steps = [step for step, _ in self.states]
            gap = sum((a - b).norm().item() for a, b in zip(self.shadow.parameters(), pl_module.net.parameters()))
            print(f"epoch {trainer.current_epoch}: val {loss:.4f} best {self.best[0]:.4f} kept {steps} gap {gap:.3f}")


class Forecaster(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(48, 256), nn.SiLU(), nn.Linear(256, 256), nn.SiLU(), nn.Linear(256, 6))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.mse_loss(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val", F.mse_loss(self.net(x), y))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-4)


def main():
    seed_everything(19, verbose=False)
    t = torch.arange(54) * 0.2
    waves = torch.sin(t + 6.28 * torch.rand(1200, 1)) * (0.5 + torch.rand(1200, 1)) + 0.1 * torch.randn(1200, 54)
    data = TensorDataset(waves[:, :48], waves[:, 48:])
    train, val = torch.utils.data.random_split(data, [960, 240])
    trainer = Trainer(
        max_epochs=12, accelerator="auto", devices=1, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0, callbacks=[Snapshots()],
    )
    trainer.fit(Forecaster(), DataLoader(train, batch_size=32, shuffle=True), DataLoader(val, batch_size=120))


main()
