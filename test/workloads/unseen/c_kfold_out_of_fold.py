"""Out-of-fold predictions with a fresh network per fold."""
import torch
import torch.nn as nn

torch.manual_seed(61)
FOLDS, ROWS, COLS = 8, 4096, 80

x = torch.randn(ROWS, COLS, device="cuda")
y = torch.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] + 0.1 * torch.randn(ROWS, device="cuda")
fold_of = torch.randperm(ROWS, device="cuda") % FOLDS
out_of_fold = torch.zeros(ROWS, device="cuda")
fold_errors = []


class Regressor(nn.Module):
    def __init__(self, hidden=512):
        super().__init__()
        self.a = nn.Linear(COLS, hidden)
        self.b = nn.Linear(hidden, hidden)
        self.c = nn.Linear(hidden, 1)

    def forward(self, rows):
        h = torch.relu(self.a(rows))
        h = h + torch.relu(self.b(h))
        return self.c(h).squeeze(1)


for k in range(FOLDS):
    inside = (fold_of != k).nonzero().squeeze(1)
    outside = (fold_of == k).nonzero().squeeze(1)
    model = Regressor().to("cuda")
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    step_losses = []
    for step in range(80):
        idx = inside[torch.randint(0, len(inside), (128,), device="cuda")]
        loss = (model(x[idx]) - y[idx]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        step_losses.append(loss.detach())
    predictions = model(x[outside])
    out_of_fold[outside] = predictions.detach()
    fold_errors.append((predictions - y[outside]).pow(2).mean().item())

total = (out_of_fold - y).pow(2).mean().item()
print(f"oof mse {total:.4f} folds {min(fold_errors):.4f}..{max(fold_errors):.4f}")
