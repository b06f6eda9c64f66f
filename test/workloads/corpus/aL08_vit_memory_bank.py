"""Trains a small ViT with a nearest-neighbour loss against features that were seen before.

Report: https://github.com/TorchSim/torch-sim/pull/559
Class: cat-buffer
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import ViTConfig, ViTModel


class NeighbourViT(nn.Module):
    def __init__(self, dim=128, classes=6):
        super().__init__()
        config = ViTConfig(image_size=32, patch_size=8, hidden_size=dim, num_hidden_layers=2, num_attention_heads=4,
                           intermediate_size=2 * dim)
        self.backbone = ViTModel(config, add_pooling_layer=False)
        self.head = nn.Linear(dim, classes)
        self.register_buffer("bank", torch.randn(1, dim))

    def forward(self, images, labels):
        features = self.backbone(pixel_values=images).last_hidden_state[:, 0]
        loss = F.cross_entropy(self.head(features), labels)
        unit = F.normalize(features, dim=-1)
        nearest = (unit @ self.bank.t()).amax(dim=1)
        self.bank = torch.cat([self.bank, unit.detach()])  # SITE HOLDER
        return loss + 0.1 * (1 - nearest).mean()


def main():
    torch.manual_seed(2)
    model = NeighbourViT().to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for step in range(200):
        images = torch.randn(24, 3, 32, 32, device="cuda")
        labels = (images.mean(dim=(1, 2, 3)) * 100).long().abs() % 6
        loss = model(images, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            print(f"step {step + 1}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
