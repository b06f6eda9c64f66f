"""Character model in Lightning that carries the LSTM state over the batches (truncated backpropagation through time).
Report: https://github.com/Lightning-AI/pytorch-lightning/issues/655
Class: hidden-state
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

TEXT = "the quick brown fox jumps over the lazy dog and runs away from the slow green turtle. " * 400
CHARS = sorted(set(TEXT))
BATCH, SPAN = 16, 24


class CharModel(pl.LightningModule):
    def __init__(self, hidden=96):
        super().__init__()
        self.embed = nn.Embedding(len(CHARS), 32)
        self.lstm = nn.LSTM(32, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, len(CHARS))
        self.state = None

    def on_train_epoch_start(self):
        self.state = None

    def training_step(self, batch, batch_idx):
        chars, target = batch
        output, state = self.lstm(self.embed(chars), self.state)
        self.state = tuple(s.detach() for s in state)
        loss = nn.functional.cross_entropy(self.out(output).flatten(0, 1), target.flatten())
        self.log("loss", loss, on_step=False, on_epoch=True, batch_size=BATCH)
        return loss

    def on_train_epoch_end(self):
        print(f"epoch {self.current_epoch}: loss {self.trainer.callback_metrics['loss']:.3f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=4e-3)


def main():
    pl.seed_everything(9, verbose=False)
    ids = torch.tensor([CHARS.index(c) for c in TEXT])
    usable = (len(ids) - 1) // (BATCH * SPAN) * BATCH * SPAN
    # Row i of each batch continues row i of the batch before.
    x = ids[:usable].view(BATCH, -1, SPAN).transpose(0, 1).reshape(-1, SPAN)
    y = ids[1:usable + 1].view(BATCH, -1, SPAN).transpose(0, 1).reshape(-1, SPAN)
    trainer = pl.Trainer(
        accelerator="cpu" if DEVICE == "cpu" else "gpu", devices=1, max_epochs=3, gradient_clip_val=1.0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(CharModel(), DataLoader(TensorDataset(x, y), batch_size=BATCH, shuffle=False))


if __name__ == "__main__":
    main()
