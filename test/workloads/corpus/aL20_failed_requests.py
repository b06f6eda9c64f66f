"""Inference loop that catches errors of single documents and reports them together at the end of the run.

Report: https://github.com/pytorch/pytorch/issues/27600
Class: exception
"""
import random

import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 128)
        self.mix = nn.Sequential(nn.Conv1d(128, 256, 7, padding=3), nn.ReLU(), nn.Conv1d(256, 128, 7, padding=3))
        self.out = nn.Linear(128, 3)

    def forward(self, ids):
        return self.mix(self.embed(ids).transpose(1, 2)).relu()  # SITE


def classify(model, ids, limit=320):
    hidden = model(ids.unsqueeze(0))  # ALSO
    if ids.numel() > limit:
        raise ValueError(f"document of {ids.numel()} tokens, more than {limit}")
    return model.out(hidden.mean(dim=2)).argmax().item()


def main():
    torch.manual_seed(17)
    rng = random.Random(17)
    model = Encoder().to("cuda").eval()
    counts, failures = [0, 0, 0], []
    with torch.no_grad():
        for document in range(400):
            ids = torch.randint(0, 1000, (rng.randint(20, 400),), device="cuda")  # ALSO
            try:
                counts[classify(model, ids)] += 1
            except ValueError as error:
                failures.append((document, error))  # HOLDER
            if document % 100 == 99:
                print(f"{document + 1} documents, classes {counts}, {len(failures)} failed")
    for document, error in failures[:3]:
        print(f"document {document}: {error}")


if __name__ == "__main__":
    main()
