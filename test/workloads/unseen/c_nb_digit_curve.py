# exported from digit_curve.ipynb
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

# %%
centers = torch.randn(10, 196, device="cuda")
y_train = torch.randint(0, 10, (2048,), device="cuda")
x_train = centers[y_train] + 2.0 * torch.randn(2048, 196, device="cuda")
y_val = torch.randint(0, 10, (1024,), device="cuda")
x_val = centers[y_val] + 2.0 * torch.randn(1024, 196, device="cuda")

# %%
model = nn.Sequential(
    nn.Linear(196, 384), nn.ReLU(),
    nn.Linear(384, 384), nn.ReLU(),
    nn.Linear(384, 10),
).to("cuda")
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
val_curve = []

# %%
for epoch in range(80):
    model.train()
    order = torch.randperm(2048, device="cuda")
    for idx in order.split(128):
        opt.zero_grad()
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        loss.backward()
        opt.step()
    model.eval()
    logits = model(x_val)  # SITE
    val_loss = F.cross_entropy(logits, y_val)
    val_curve.append(val_loss)  # HOLDER

# %%
best = min(range(len(val_curve)), key=lambda i: val_curve[i].item())
print(f"best epoch {best} val loss {val_curve[best].item():.4f}")
