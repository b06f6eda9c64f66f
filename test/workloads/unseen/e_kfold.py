"""14-fold cross validation of a tabular regressor."""
import weakref

import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
FOLDS, STEPS = 14, 130


class FoldTrainer:
    def __init__(self, fold, x, y):
        self.fold = fold
        self.x, self.y = x, y
        self.model = nn.Sequential(nn.Linear(64, 1024), nn.SiLU(), nn.Linear(1024, 1024), nn.SiLU(),
                                   nn.Dropout(0.1), nn.Linear(1024, 1)).to(DEV)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, max_lr=3e-3, total_steps=STEPS)
        self.lines = []
        weakref.finalize(self, self.close)

    def close(self):
        """Flush what was logged when the trainer goes away."""
        self.lines.clear()

    def fit(self):
        self.model.train()
        for step in range(STEPS):
            pick = torch.randint(0, len(self.x), (2048,), device=DEV)
            loss = F.smooth_l1_loss(self.model(self.x[pick]).squeeze(1), self.y[pick])
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            self.sched.step()
            if step % 20 == 0:
                self.lines.append(f"fold {self.fold} step {step} loss {loss.item():.4f}")

    @torch.no_grad()
    def score(self, x, y):
        self.model.eval()
        pred = self.model(x).squeeze(1)
        return 1 - ((pred - y).square().sum() / (y - y.mean()).square().sum()).item()


def main():
    torch.manual_seed(3)
    x = torch.randn(28000, 64, device=DEV)
    y = torch.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] + 0.1 * torch.randn(len(x), device=DEV)
    fold_of = torch.arange(len(x), device=DEV) % FOLDS
    scores = []
    for fold in range(FOLDS):
        held_out = fold_of == fold
        trainer = FoldTrainer(fold, x[~held_out], y[~held_out])
        trainer.fit()
        scores.append(trainer.score(x[held_out], y[held_out]))
    print(f"{FOLDS}-fold R2: {sum(scores) / FOLDS:.3f} worst {min(scores):.3f}")


main()
