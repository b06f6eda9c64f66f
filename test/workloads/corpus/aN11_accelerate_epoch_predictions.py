"""Multi-label tagging with Accelerate: the predictions of an epoch are collected, scored and dropped.

Report: https://github.com/huggingface/accelerate/issues/226
Class: epoch-outputs
"""
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertForTokenClassification

DEVICE = "cuda"


def f1(predictions, references):
    predicted, wanted = torch.cat(predictions) > 0, torch.cat(references) > 0
    both = (predicted & wanted).sum()
    return (2 * both / (predicted.sum() + wanted.sum()).clamp(min=1)).item()


def evaluate(accelerator, model, loader):
    predictions, references = [], []
    model.eval()
    for ids, labels in loader:
        with torch.no_grad():
            logits = model(input_ids=ids).logits
        logits, labels = accelerator.gather_for_metrics((logits.argmax(-1), labels))
        predictions.append(logits)
        references.append(labels)
    model.train()
    return f1(predictions, references)


def main():
    torch.manual_seed(10)
    accelerator = Accelerator(cpu=DEVICE == "cpu", gradient_accumulation_steps=2)
    ids = torch.randint(0, 150, (352, 16))
    train = DataLoader(TensorDataset(ids[:256], (ids[:256] % 7 == 0).long()), batch_size=16, shuffle=True)
    valid = DataLoader(TensorDataset(ids[256:], (ids[256:] % 7 == 0).long()), batch_size=16)
    model = BertForTokenClassification(BertConfig(vocab_size=150, hidden_size=48, num_hidden_layers=2, num_labels=2,
                                                  num_attention_heads=4, intermediate_size=96,
                                                  max_position_embeddings=16))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    model, optimizer, train, valid = accelerator.prepare(model, optimizer, train, valid)
    for epoch in range(10):
        for x, y in train:
            with accelerator.accumulate(model):
                loss = model(input_ids=x, labels=y).loss
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
        score = evaluate(accelerator, model, valid)
        if epoch % 3 == 0:
            accelerator.print(f"epoch {epoch}: loss {loss.item():.3f} f1 {score:.3f}")


if __name__ == "__main__":
    main()
