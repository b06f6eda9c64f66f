"""Nightly evaluation of a click model on one market after another; each market gets curves of its own.
Report: https://github.com/Lightning-AI/torchmetrics/issues/1949
Class: metric-instances
"""
import torch
from torch import nn
from torchmetrics.classification import BinaryAUROC, BinaryPrecisionRecallCurve

MARKETS, FEATURES, WIDTH = 80, 32, 64


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(FEATURES, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU())
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.head(self.net(x)).squeeze(-1)


def market(number):
    """Batches of ragged size with a click rate of the market's own."""
    gen = torch.Generator().manual_seed(number)
    taste = torch.randn(FEATURES, generator=gen) * 0.3 + 1
    for _ in range(int(torch.randint(5, 10, (1,), generator=gen))):
        size = int(torch.randint(4000, 9000, (1,), generator=gen))
        x = torch.randn(size, FEATURES, generator=gen)
        clicks = (x @ taste / FEATURES**0.5 + torch.randn(size, generator=gen) > 0.8).float()
        yield x.to("cuda"), clicks.to("cuda")


class NightReport:
    def __init__(self):
        self.curves = {}
        self.areas = {}

    def begin(self, number):
        self.curves[number] = BinaryPrecisionRecallCurve(compute_with_cache=False).to("cuda")  # HOLDER
        return self.curves[number], BinaryAUROC(thresholds=200).to("cuda")

    def end(self, number, area):
        precision, recall, _ = self.curves[number].compute()
        reached = recall[precision > 0.5]
        self.areas[number] = (float(area.compute()), float(reached.max()) if len(reached) else 0.0)

    def mean(self):
        areas = torch.tensor(list(self.areas.values()))
        return areas.mean(0).tolist()


def fit(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for number in range(8):
        for x, clicks in market(1000 + number):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x[:2000]), clicks[:2000])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main():
    torch.manual_seed(27)
    model, report = ClickModel().to("cuda"), NightReport()
    fit(model)
    model.eval()
    with torch.inference_mode():
        for number in range(MARKETS):
            curve, area = report.begin(number)
            for x, clicks in market(number):
                chance = torch.sigmoid(model(x))
                curve.update(chance, clicks.long())  # SITE
                area.update(chance, clicks.long())
            report.end(number, area)
            if number % 20 == 19:
                mean_area, mean_recall = report.mean()
                print(f"{number + 1} markets: area {mean_area:.4f} recall at half precision {mean_recall:.3f}")


main()
