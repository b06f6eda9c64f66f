# %%
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(30)

# %%
proj = torch.randn(200, 6, device="cuda")
x = torch.randn(1536, 200, device="cuda")
y = (x @ proj + 4 * torch.randn(1536, 6, device="cuda")).argmax(1)
xt, yt, xv, yv = x[:1024], y[:1024], x[1024:], y[1024:]

# %%
model = nn.Sequential(nn.Linear(200, 640), nn.ReLU(), nn.Dropout(0.4), nn.Linear(640, 320), nn.ReLU(), nn.Linear(320, 6)).to("cuda")
opt = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.05)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 24)
best = None
best_loss = float("inf")
history = []

# %%
for epoch in range(24):
    model.train()
    for idx in torch.randperm(1024, device="cuda").split(64):
        opt.zero_grad()
        F.cross_entropy(model(xt[idx]), yt[idx]).backward()
        opt.step()
    sched.step()

    model.eval()
    val_logits = []
    with torch.no_grad():
        for part in xv.split(128):
            val_logits.append(model(part))
    val_loss = F.cross_entropy(torch.cat(val_logits), yv)
    history.append(val_loss.item())
    if history[-1] < best_loss:
        best_loss = history[-1]
        best = {name: value.clone() for name, value in model.state_dict().items()}

# %%
model.load_state_dict(best)
print(f"best val {best_loss:.4f} at epoch {history.index(best_loss)}")
