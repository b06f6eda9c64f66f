"""Cross-validation with Accelerate: each fold trains a new network and releases it before the next one.

Report: https://github.com/huggingface/accelerate/pull/739
Class: free-memory
"""
import torch
import torch.nn as nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, Subset, TensorDataset

DEVICE = "cuda"


def network():
    return nn.Sequential(nn.Linear(64, 384), nn.GELU(), nn.Linear(384, 384), nn.GELU(), nn.Linear(384, 1))


def main():
    torch.manual_seed(9)
    accelerator = Accelerator(cpu=DEVICE == "cpu")
    x = torch.randn(480, 64)
    data = TensorDataset(x, (x[:, :8].prod(dim=1, keepdim=True) + x[:, 8:9]).tanh())
    folds = 24
    errors = []
    for fold in range(folds):
        held_out = list(range(fold * 20, fold * 20 + 20))
        rest = [i for i in range(480) if i // 20 != fold]
        model = network()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        train = DataLoader(Subset(data, rest), batch_size=46, shuffle=True)
        valid = DataLoader(Subset(data, held_out), batch_size=20)
        model, optimizer, train, valid = accelerator.prepare(model, optimizer, train, valid)
        for features, target in train:
            loss = nn.functional.mse_loss(model(features), target)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        with torch.no_grad():
            errors.append(sum(nn.functional.mse_loss(model(f), t).item() for f, t in valid))
        model, optimizer, train, valid = accelerator.free_memory(model, optimizer, train, valid)
        if fold % 6 == 5:
            accelerator.print(f"fold {fold + 1}: mean error {sum(errors) / len(errors):.4f}")


if __name__ == "__main__":
    main()
