"""Lightning on a small model; `traced`: with the callback. Prints the losses, and on a GPU what PyTorch's allocator says."""

import json
import sys

import lightning
import torch
from lightning.pytorch.loggers import CSVLogger

traced = "traced" in sys.argv
gpu = torch.cuda.is_available()
torch.use_deterministic_algorithms(True, warn_only=True)
lightning.seed_everything(0)
losses = []


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
        self.history = []

    def training_step(self, batch, _):
        loss = self.net(batch[0]).pow(2).mean()
        losses.append(loss.item())
        if "leak" in sys.argv:
            self.history.append(loss)
        return loss

    def validation_step(self, batch, _):
        self.log("val", self.net(batch[0]).mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(64, 32)), batch_size=8)
callbacks = []
if traced:
    from gpu_memtrace.integrations.lightning import GpuMemtraceCallback

    callbacks = [GpuMemtraceCallback()]
trainer = lightning.Trainer(
    max_epochs=8 if "leak" in sys.argv else 2,
    logger=CSVLogger("traced" if traced else "plain", name="", version=0),
    callbacks=callbacks,
    log_every_n_steps=4,
    enable_progress_bar=False,
    accelerator="gpu" if gpu else "cpu",
    devices=1,
)
trainer.fit(Model(), data, data)
told = {"losses": losses}
if gpu and traced:
    import gpu_memtrace

    told["metrics"], told["stats"] = gpu_memtrace.metrics(), torch.cuda.memory_stats()
print(json.dumps(told))
