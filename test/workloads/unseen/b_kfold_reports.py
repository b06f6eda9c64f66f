import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(21)
device = "cuda"
FOLDS, EPOCHS, N, DIM, CLASSES = 10, 6, 4000, 96, 8


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(DIM, 512)
        self.mid = nn.Linear(512, 512)
        self.out = nn.Linear(512, CLASSES)

    def forward(self, x):
        x = F.relu(self.inp(x))
        x = F.dropout(F.relu(self.mid(x)), 0.1, self.training)
        return self.out(x)


def train_fold(x, y):
    model = Tabular()
    model.to(device)  # SITE
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(EPOCHS):
        for idx in torch.randperm(len(x), device=device).split(100):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()  # SITE
            opt.step()
    return model.eval()


@torch.no_grad()
def accuracy(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()


features = torch.randn(N, DIM, device=device)
labels = (features @ torch.randn(DIM, CLASSES, device=device)).argmax(1)
fold_of = torch.arange(N, device=device) % FOLDS

reports = {}
for fold in range(FOLDS):
    train, test = fold_of != fold, fold_of == fold
    model = train_fold(features[train], labels[train])
    acc = accuracy(model, features[test], labels[test])
    reports[fold] = {"accuracy": acc, "size": int(test.sum()), "predict": model.forward}  # HOLDER

mean = sum(r["accuracy"] for r in reports.values()) / FOLDS
worst = min(reports, key=lambda f: reports[f]["accuracy"])
print(f"cv accuracy {mean:.3f}, worst fold {worst}")
