"""Transformer steps alone: how many backward bytes get a forward line is read from the trace."""
import torch
import truth
from transformer import Trainer

trainer = Trainer()
for _ in range(5):
    trainer.step()
torch.cuda.synchronize()
truth.write(stats=truth.memory_stats())
