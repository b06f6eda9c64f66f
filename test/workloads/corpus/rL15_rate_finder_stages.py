"""Fine-tunes a small DistilBERT in stages; before each one a finder tries learning rates on the weights of that moment.
Report: https://github.com/Lightning-AI/pytorch-lightning/issues/9672
Class: lr-finder
"""
import math

import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification

STAGES, TRIES, STEPS, WORDS = 44, 5, 4, 300


class RateFinder:
    """Raises the rate step by step, then puts the weights back as they were."""

    def __init__(self, model, low=1e-5, high=1e-1):
        self.model = model
        self.low, self.high = low, high
        self.before = {name: value.clone() for name, value in model.state_dict().items()}  # SITE
        self.curve = []

    def run(self, batches):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=self.low)
        for number, (ids, labels) in enumerate(batches):
            rate = self.low * (self.high / self.low) ** (number / (TRIES - 1))
            optimizer.param_groups[0]["lr"] = rate
            loss = self.model(input_ids=ids, labels=labels).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.curve.append((rate, loss.item()))
        self.model.load_state_dict(self.before)
        return self

    def suggestion(self):
        falls = [(b[1] - a[1], b[0]) for a, b in zip(self.curve, self.curve[1:])]
        return min(falls)[1]


class Tuner:
    def __init__(self, model):
        self.model = model
        self.found = {}

    def tune(self, stage, batches):
        self.found[stage] = RateFinder(self.model).run(batches)  # HOLDER
        return self.found[stage].suggestion()

    def history(self):
        return [math.log10(finder.suggestion()) for finder in self.found.values()]


def batches(stage, count, first):
    for number in range(count):
        gen = torch.Generator().manual_seed(stage * 100 + first + number)
        ids = torch.randint(5, WORDS, (10, 28), generator=gen)
        labels = (ids[:, :6].sum(1) > ids[:, 6:12].sum(1)).long()
        yield ids.to("cuda"), labels.to("cuda")


def main():
    torch.manual_seed(15)
    config = DistilBertConfig(
        vocab_size=WORDS, dim=128, n_layers=2, n_heads=4, hidden_dim=256, max_position_embeddings=32, num_labels=2,
    )
    model = DistilBertForSequenceClassification(config).to("cuda")
    tuner = Tuner(model)
    for stage in range(STAGES):
        rate = tuner.tune(stage, batches(stage, TRIES, first=0))
        optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
        for ids, labels in batches(stage, STEPS, first=50):
            loss = model(input_ids=ids, labels=labels).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if stage % 11 == 10:
            rates = tuner.history()[-11:]
            print(f"stage {stage + 1}: loss {loss.item():.4f} rate 10^{sum(rates) / len(rates):.2f}")


main()
