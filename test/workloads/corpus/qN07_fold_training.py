"""Trains one model per cross-validation fold with Accelerate, accumulating gradients, and keeps the best weights."""
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FOLDS, DIM = 12, 256


def network():
    return nn.Sequential(nn.Linear(DIM, 512), nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 1)).to("cuda")


class FoldTrainer:
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.accelerator = Accelerator(gradient_accumulation_steps=2)
        self.best_error = float("inf")
        self.best_weights = None

    def run(self, fold):
        mask = torch.arange(len(self.x)) % FOLDS == fold
        model = network()
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
        loader = DataLoader(TensorDataset(self.x[~mask], self.y[~mask]), batch_size=16, shuffle=True)
        model, optimizer, loader = self.accelerator.prepare(model, optimizer, loader)
        for xb, yb in loader:
            with self.accelerator.accumulate(model):
                loss = F.huber_loss(model(xb.to("cuda")).squeeze(-1), yb.to("cuda"))
                self.accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            error = F.l1_loss(model(self.x[mask].to("cuda")).squeeze(-1), self.y[mask].to("cuda")).item()
        if error < self.best_error:
            self.best_error = error
            self.best_weights = {k: v.clone() for k, v in model.state_dict().items()}
        model, optimizer, loader = self.accelerator.free_memory(model, optimizer, loader)
        return error


def main():
    set_seed(41)
    x = torch.randn(600, DIM)
    y = x[:, 0] - 0.5 * x[:, 1].abs()
    trainer = FoldTrainer(x, y)
    for repeat in range(3):
        errors = [trainer.run(fold) for fold in range(FOLDS)]
        print(f"repeat {repeat}: mean error {sum(errors) / FOLDS:.4f} best {trainer.best_error:.4f}")
    norm = sum(v.norm().item() for v in trainer.best_weights.values())
    print(f"best weights norm {norm:.3f}")


main()
