"""Trains a tagger with Accelerate and reports the accuracy over gathered predictions after each epoch.

Report: https://github.com/huggingface/transformers/issues/7232
Class: epoch-outputs
"""
import torch
import torch.nn as nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda"


class Tagger(nn.Module):
    def __init__(self, vocab=400, tags=40, dim=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, tags)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])  # SITE


def main():
    torch.manual_seed(7)
    accelerator = Accelerator(cpu=DEVICE == "cpu")
    ids = torch.randint(0, 400, (400, 20))
    train = DataLoader(TensorDataset(ids[:320], ids[:320] % 40), batch_size=32, shuffle=True)
    valid = DataLoader(TensorDataset(ids[320:], ids[320:] % 40), batch_size=16)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    model, optimizer, train, valid = accelerator.prepare(model, optimizer, train, valid)

    predictions, references = [], []
    for epoch in range(20):
        model.train()
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        for x, y in valid:
            with torch.no_grad():
                logits = model(x)  # ALSO
            logits, y = accelerator.gather_for_metrics((logits, y))
            predictions.append(logits)  # HOLDER
            references.append(y.cpu())
        count = len(valid)
        correct = sum((p.argmax(-1).cpu() == r).float().mean().item()
                      for p, r in zip(predictions[-count:], references[-count:]))
        if epoch % 5 == 4:
            accelerator.print(f"epoch {epoch + 1}: loss {loss.item():.3f} accuracy {correct / count:.3f}")


if __name__ == "__main__":
    main()
