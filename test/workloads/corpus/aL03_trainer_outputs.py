"""A Trainer subclass that records the model outputs of every batch for a confusion report after training.

Report: https://github.com/huggingface/transformers/issues/25487
Class: trainer-outputs
"""
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForTokenClassification, PrinterCallback, Trainer, TrainingArguments

DEVICE = "cuda"


class TagDataset(Dataset):
    def __init__(self, size=480, length=24, vocab=200, tags=60):
        generator = torch.Generator().manual_seed(0)
        self.ids = torch.randint(1, vocab, (size, length), generator=generator)
        self.labels = self.ids % tags

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.labels[index]}


class ReportingTrainer(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.recorded = []

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)  # SITE
        self.recorded.append((outputs.logits.detach(), self.state.epoch))  # HOLDER
        return (outputs.loss, outputs) if return_outputs else outputs.loss


def main():
    torch.manual_seed(0)
    config = BertConfig(vocab_size=200, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=96, max_position_embeddings=32, num_labels=60)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(output_dir=folder, num_train_epochs=4, per_device_train_batch_size=12,
                                 learning_rate=2e-3, logging_strategy="no", save_strategy="no", report_to="none",
                                 disable_tqdm=True, use_cpu=DEVICE == "cpu", dataloader_pin_memory=False, seed=0)
        trainer = ReportingTrainer(model=BertForTokenClassification(config), args=args, train_dataset=TagDataset())
        trainer.remove_callback(PrinterCallback)
        result = trainer.train()
    used = torch.cat([logits.argmax(-1).flatten() for logits, _ in trainer.recorded])
    print(f"{result.global_step} steps, loss {result.training_loss:.3f}, {used.unique().numel()} tags predicted")


if __name__ == "__main__":
    main()
