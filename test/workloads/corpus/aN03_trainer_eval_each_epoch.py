"""Fine-tunes a small ELECTRA classifier with the Trainer, with an evaluation and a log entry in each epoch.

Report: https://github.com/huggingface/transformers/issues/7232
Class: trainer-eval
"""
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (ElectraConfig, ElectraForSequenceClassification, PrinterCallback, Trainer, TrainerCallback,
                          TrainingArguments)

DEVICE = "cuda"


class Sentences(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(1, 200, (count, 16), generator=generator)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": int(self.ids[i, 0] % 4)}


class History(TrainerCallback):
    def __init__(self):
        self.losses, self.scores = [], []

    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            self.losses.append(float(logs["loss"]))

    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        self.scores.append(metrics["eval_accuracy"])


def accuracy(prediction):
    return {"accuracy": float(np.mean(prediction.predictions.argmax(-1) == prediction.label_ids))}


def main():
    torch.manual_seed(2)
    config = ElectraConfig(vocab_size=200, embedding_size=48, hidden_size=48, num_hidden_layers=2,
                           num_attention_heads=4, intermediate_size=96, max_position_embeddings=16, num_labels=4)
    history = History()
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(folder, num_train_epochs=8, per_device_train_batch_size=16, learning_rate=2e-3,
                                 per_device_eval_batch_size=32, eval_strategy="epoch", logging_strategy="epoch",
                                 save_strategy="no", report_to="none", disable_tqdm=True, log_level="error",
                                 use_cpu=DEVICE == "cpu", dataloader_pin_memory=False, seed=2)
        trainer = Trainer(model=ElectraForSequenceClassification(config), args=args, train_dataset=Sentences(320, 0),
                          eval_dataset=Sentences(96, 1), compute_metrics=accuracy, callbacks=[history])
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    print(f"losses {history.losses[0]:.3f} to {history.losses[-1]:.3f}, best accuracy {max(history.scores):.3f}")


if __name__ == "__main__":
    main()
