"""Self-supervised training of a timm network that is watched with a k-NN classifier on a bank of recent features.
Report: https://github.com/HobbitLong/RepDistiller/issues/40
Class: memory-bank
"""
import timm
import torch
import torch.nn.functional as F
from torch import nn


class FeatureBank(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.register_buffer("features", torch.zeros(size, dim))
        self.register_buffer("labels", torch.full((size,), -1, dtype=torch.long))
        self.cursor = 0

    @torch.no_grad()
    def add(self, features, labels):
        index = (self.cursor + torch.arange(len(labels), device=features.device)) % len(self.labels)
        self.features[index] = F.normalize(features, dim=1)
        self.labels[index] = labels
        self.cursor = (self.cursor + len(labels)) % len(self.labels)

    @torch.no_grad()
    def classify(self, features, k=5):
        similarity = F.normalize(features, dim=1) @ self.features.T
        similarity[:, self.labels < 0] = -1.0
        return self.labels[similarity.topk(k, dim=1).indices].mode(dim=1).values


def main():
    torch.manual_seed(6)
    encoder = timm.create_model("test_resnet", pretrained=False, num_classes=0).to("cuda")
    projector = nn.Sequential(nn.Linear(encoder.num_features, 128), nn.ReLU(), nn.Linear(128, 64)).to("cuda")
    bank = FeatureBank(size=1024, dim=encoder.num_features).to("cuda")
    optimizer = torch.optim.AdamW([*encoder.parameters(), *projector.parameters()], lr=5e-4)
    prototypes = torch.randn(8, 3, 40, 40, device="cuda")
    correct = seen = 0
    for step in range(110):
        labels = torch.randint(0, 8, (8,), device="cuda")
        views = [prototypes[labels] + torch.randn(8, 3, 40, 40, device="cuda") for _ in range(2)]
        features = encoder(torch.cat(views))
        first, second = F.normalize(projector(features), dim=1).chunk(2)
        logits = first @ second.T / 0.2
        loss = F.cross_entropy(logits, torch.arange(8, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step >= 10:
            correct += int((bank.classify(features[:8].detach()) == labels).sum())
            seen += 8
        bank.add(features[:8].detach(), labels)
        if step % 25 == 0:
            print(f"step {step}: loss {loss.item():.3f}, k-NN {100 * correct / max(seen, 1):.1f} %")


if __name__ == "__main__":
    main()
