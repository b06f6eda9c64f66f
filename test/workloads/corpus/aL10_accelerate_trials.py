"""Hyperparameter search in one process: every trial trains a fresh BERT classifier under the same Accelerator.

Report: https://github.com/huggingface/accelerate/issues/84
Class: accelerator-prepare
"""
import torch
from accelerate import Accelerator
from transformers import BertConfig, BertForSequenceClassification

DEVICE = "cuda"


def run_trial(accelerator, learning_rate, steps=8):
    config = BertConfig(vocab_size=120, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=128, max_position_embeddings=16, num_labels=3)
    model = BertForSequenceClassification(config)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    model, optimizer = accelerator.prepare(model, optimizer)  # SITE HOLDER
    for _ in range(steps):
        ids = torch.randint(0, 120, (16, 12), device=accelerator.device)
        loss = model(input_ids=ids, labels=ids[:, 0] % 3).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


def main():
    torch.manual_seed(6)
    accelerator = Accelerator(cpu=DEVICE == "cpu")
    best = (float("inf"), None)
    for trial in range(28):
        learning_rate = 10 ** (-3 + 2 * torch.rand(()).item())
        loss = run_trial(accelerator, learning_rate)
        best = min(best, (loss, learning_rate))
        if trial % 7 == 6:
            print(f"trial {trial + 1}: best loss {best[0]:.3f} at lr {best[1]:.4f}")


if __name__ == "__main__":
    main()
