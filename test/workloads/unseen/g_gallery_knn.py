"""k-NN accuracy of frozen features: a gallery is embedded first, then the queries are matched."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
DEV = torch.device("cuda")
GALLERY, QUERIES, BATCH, CLASSES, K = 40, 220, 256, 50, 20


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 7, 4, 3)
        self.stages = nn.ModuleList()
        w = 64
        for _ in range(3):
            self.stages.append(nn.Sequential(nn.Conv2d(w, 2 * w, 3, 2, 1), nn.BatchNorm2d(2 * w), nn.ReLU()))
            w *= 2

    def forward(self, x):
        x = F.relu(self.stem(x))
        pooled = []
        for stage in self.stages:
            x = stage(x)
            pooled.append(x.mean((2, 3)))
        return torch.cat(pooled, 1)


class ImageSource:
    def __init__(self):
        self.patterns = torch.randn(CLASSES, 3, 64, 64, device=DEV)

    def batch(self):
        y = torch.randint(CLASSES, (BATCH,), device=DEV)
        return self.patterns[y] + 1.5 * torch.randn(BATCH, 3, 64, 64, device=DEV), y


@torch.inference_mode()
def run():
    net = Backbone().to(DEV).eval()
    source = ImageSource()
    bank = {"features": [], "labels": []}
    for _ in range(GALLERY):
        x, y = source.batch()
        bank["features"].append(F.normalize(net(x), dim=1))
        bank["labels"].append(y)
    correct = torch.zeros((), device=DEV)
    votes = torch.zeros(BATCH, CLASSES, device=DEV)
    for _ in range(QUERIES):
        x, y = source.batch()
        f = F.normalize(net(x), dim=1)
        sims = torch.cat([f @ part.t() for part in bank["features"]], dim=1)
        top, index = sims.topk(K, dim=1)
        labels = torch.cat(bank["labels"])[index]
        votes.zero_().scatter_add_(1, labels, (top / 0.07).exp())
        correct += (votes.argmax(1) == y).sum()
    return correct.item() / (QUERIES * BATCH), bank


accuracy, bank = run()
print(f"knn accuracy {accuracy:.4f} with {sum(map(len, bank['labels']))} gallery images")
