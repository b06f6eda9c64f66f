"""Watches the gradient of the classifier head from a Trainer callback, one snapshot every tenth optimizer step.

Report: https://github.com/Lightning-AI/pytorch-lightning/issues/4601
Class: trainer-callback
"""
import tempfile

import torch
from torch.utils.data import TensorDataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, PrinterCallback, Trainer,
                          TrainerCallback, TrainingArguments)

DEVICE = "cuda"


class GradientProbe(TrainerCallback):
    """Remembers how the gradient of one parameter looks over time."""

    def __init__(self, name, every=10):
        self.name = name
        self.every = every
        self.seen = {}

    def on_pre_optimizer_step(self, args, state, control, model=None, **kwargs):
        if state.global_step % self.every == 0:
            grad = model.get_parameter(self.name).grad
            self.seen[state.global_step] = grad.detach().clone()  # SITE HOLDER


def collate(rows):
    ids, labels = zip(*rows)
    return {"input_ids": torch.stack(ids), "labels": torch.stack(labels)}


if __name__ == "__main__":
    torch.manual_seed(3)
    ids = torch.randint(1, 300, (320, 16))
    data = TensorDataset(ids, ids[:, 0] % 8)
    model = DistilBertForSequenceClassification(
        DistilBertConfig(vocab_size=300, dim=160, n_layers=2, n_heads=4, hidden_dim=160, max_position_embeddings=16,
                         num_labels=8))
    probe = GradientProbe("pre_classifier.weight")
    with tempfile.TemporaryDirectory() as out:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(out, max_steps=260, per_device_train_batch_size=8, learning_rate=1e-3, seed=3,
                                   logging_strategy="no", save_strategy="no", report_to="none", disable_tqdm=True,
                                   use_cpu=DEVICE == "cpu", dataloader_pin_memory=False),
            train_dataset=data, data_collator=collate, callbacks=[probe])
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    for step, grad in list(probe.seen.items())[::8]:
        print(f"step {step}: gradient norm {grad.norm():.4f}")
