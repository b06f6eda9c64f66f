import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(9)
device = "cuda"
MAX_EPOCHS = 20


class BestKeeper:
    def __init__(self, patience=50):
        self.patience = patience
        self.best, self.state, self.opt_state = float("inf"), None, None
        self.curve = []
        self.waited = 0

    def __call__(self, loss, model, opt):
        self.curve.append(loss)
        if loss < self.best:
            self.best, self.waited = loss, 0
            self.state = copy.deepcopy(model.state_dict())
            self.opt_state = copy.deepcopy(opt.state_dict())
        else:
            self.waited += 1
        return self.waited >= self.patience


class Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(16, 192, batch_first=True)
        self.out = nn.Linear(192, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1]).squeeze(-1)


x = torch.randn(1500, 12, 16, device=device)
y = x[:, -3:, 0].sum(1) - x[:, -1, 1]
model = Seq().to(device)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=2)
keeper = BestKeeper()
for epoch in range(MAX_EPOCHS):
    for idx in torch.randperm(1200, device=device).split(48):
        loss = F.mse_loss(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    with torch.no_grad():
        val = F.mse_loss(model(x[1200:]), y[1200:]).item()
    plateau.step(val)
    if keeper(val, model, opt):
        break
model.load_state_dict(keeper.state)
print(f"epochs {len(keeper.curve)} best {keeper.best:.4f}")
