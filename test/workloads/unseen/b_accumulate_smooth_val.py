import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(29)
device = "cuda"
UPDATES, MICRO, BATCH = 60, 8, 64


class Regressor(nn.Module):
    def __init__(self, dim=64, hidden=512):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)

    def forward(self, x):
        h = torch.tanh(self.fc1(x))  # SITE
        h = torch.tanh(self.fc2(h))  # SITE
        return self.fc3(h).squeeze(-1)


x = torch.randn(8192, 64, device=device)
y = torch.sin(x[:, :4].sum(1)) + 0.1 * x[:, 5]
x_val, y_val = x[-1024:], y[-1024:]

model = Regressor().to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.05, total_steps=UPDATES)

smooth = None
best = float("inf")
for update in range(UPDATES):
    opt.zero_grad()
    running = 0.0
    for micro in range(MICRO):
        idx = torch.randint(0, 7168, (BATCH,), device=device)
        loss = F.mse_loss(model(x[idx]), y[idx]) / MICRO
        loss.backward()
        running += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()

    model.eval()
    val = F.mse_loss(model(x_val), y_val)  # SITE
    smooth = val if smooth is None else 0.9 * smooth + 0.1 * val  # HOLDER
    best = min(best, smooth.item())
    model.train()

print(f"train {running:.4f} smoothed val {smooth.item():.4f} best {best:.4f}")
