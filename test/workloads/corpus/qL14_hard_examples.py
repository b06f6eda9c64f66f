"""Trains a tiny language model with the Hugging Face Trainer and lists which batches were hardest."""
import tempfile
import warnings

import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainingArguments

warnings.filterwarnings("ignore")


class Walks(Dataset):
    def __init__(self, count, length, vocab):
        gen = torch.Generator().manual_seed(99)
        steps = torch.randint(-2, 3, (count, length), generator=gen)
        self.ids = (steps.cumsum(1) + vocab // 2) % vocab

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


class BookkeepingTrainer(Trainer):
    token_losses = {}

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"][:, 1:]
        out = model(input_ids=inputs["input_ids"])
        logits = out.logits[:, :-1]
        per_token = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")  # SITE
        self.token_losses[len(self.token_losses)] = per_token.detach().view(labels.shape)  # HOLDER
        loss = per_token.mean()
        return (loss, out) if return_outputs else loss


def main():
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=40, n_embd=48, n_layer=2, n_head=2))
    model = model.to("cuda")
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=4,
            max_steps=160,
            learning_rate=2e-3,
            logging_strategy="no",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            seed=7,
        )
        trainer = BookkeepingTrainer(model=model, args=args, train_dataset=Walks(400, 33, 64))
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    means = {step: losses.mean().item() for step, losses in trainer.token_losses.items()}
    hardest = sorted(means, key=means.get, reverse=True)[:5]
    print("steps", trainer.state.global_step, "hardest", hardest)
    print("last", round(means[len(means) - 1], 4))


if __name__ == "__main__":
    torch.manual_seed(7)
    main()
