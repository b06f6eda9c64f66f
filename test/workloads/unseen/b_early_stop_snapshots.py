import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(8)
device = "cuda"
MAX_EPOCHS = 16


class EarlyStopping:
    def __init__(self, patience=20, min_delta=1e-4):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.best_epoch, self.bad = float("inf"), -1, 0
        self.weights = {}

    def update(self, epoch, val_loss, model):
        state = {k: v.detach().clone() for k, v in model.state_dict().items()}  # SITE
        self.weights[epoch] = state  # HOLDER
        if val_loss < self.best - self.min_delta:
            self.best, self.best_epoch, self.bad = val_loss, epoch, 0
        else:
            self.bad += 1
        return self.bad >= self.patience

    def restore(self, model):
        model.load_state_dict(self.weights[self.best_epoch])


model = nn.Sequential(
    nn.Linear(64, 384), nn.BatchNorm1d(384), nn.GELU(),
    nn.Linear(384, 384), nn.BatchNorm1d(384), nn.GELU(),
    nn.Linear(384, 1)).to(device)
opt = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, MAX_EPOCHS)

x = torch.randn(6000, 64, device=device)
y = (x[:, :8].prod(1, keepdim=True) + x.sin().mean(1, keepdim=True))
x_tr, y_tr, x_va, y_va = x[:5000], y[:5000], x[5000:], y[5000:]

stopper = EarlyStopping()
for epoch in range(MAX_EPOCHS):
    model.train()
    for idx in torch.randperm(5000, device=device).split(64):
        loss = F.smooth_l1_loss(model(x_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()
    model.eval()
    with torch.no_grad():
        val = F.smooth_l1_loss(model(x_va), y_va).item()
    if stopper.update(epoch, val, model):
        break

stopper.restore(model)
print(f"best epoch {stopper.best_epoch} val {stopper.best:.4f}")
