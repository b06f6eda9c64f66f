"""Fine-tunes a deep MLP in Lightning and unfreezes one more block after every epoch until all of them train.
Class: unfreezing
"""
import logging
import warnings

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import BaseFinetuning
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class BlockByBlock(BaseFinetuning):
    def __init__(self, every=1):
        super().__init__()
        self.every = every

    def freeze_before_training(self, pl_module):
        self.freeze(pl_module.blocks)

    def finetune_function(self, pl_module, epoch, optimizer):
        index = len(pl_module.blocks) - epoch // self.every
        if 0 <= index < len(pl_module.blocks) and epoch % self.every == 0:
            self.unfreeze_and_add_param_group(pl_module.blocks[index], optimizer, lr=1e-4)
            trainable = sum(p.numel() for p in pl_module.parameters() if p.requires_grad)
            print(f"epoch {epoch}: {trainable} parameters train, {len(optimizer.param_groups)} groups")


class DeepMlp(pl.LightningModule):
    def __init__(self, width=256, depth=6):
        super().__init__()
        self.inp = nn.Linear(32, width)
        self.blocks = nn.ModuleList(
            [nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(depth)]
        )
        self.head = nn.Linear(width, 5)

    def training_step(self, batch, batch_idx):
        x, y = batch
        h = self.inp(x)
        for block in self.blocks:
            h = h + block(h)
        return nn.functional.cross_entropy(self.head(h), y)

    def configure_optimizers(self):
        return torch.optim.Adam(filter(lambda p: p.requires_grad, self.parameters()), lr=1e-3)


def main():
    pl.seed_everything(17, verbose=False)
    x = torch.randn(1600, 32)
    y = (x[:, :4] > 0).sum(dim=1)
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=16, callbacks=[BlockByBlock()],
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(DeepMlp(), DataLoader(TensorDataset(x, y), batch_size=100, shuffle=True))


if __name__ == "__main__":
    main()
