# %% [markdown]
# Forecasting sensors with a dilated conv net

# %%
import torch
from torch import nn
import torch.nn.functional as F

dev = "cuda"
torch.manual_seed(3)

# %% series
n, L, C = 600, 160, 16
t = torch.arange(L, device=dev).float()
freq = torch.rand(n, C, 1, device=dev) * 0.3
series = (freq * t).sin() + 0.1 * torch.randn(n, C, L, device=dev)
xv, yv = series[:32, :, :128], series[:32, :, 128:]
train = series[32:]

# %% model
net = nn.Sequential(nn.Conv1d(C, 64, 3, padding=1), nn.ReLU(),
                    nn.Conv1d(64, 64, 3, padding=2, dilation=2), nn.ReLU(),
                    nn.Conv1d(64, 64, 3, padding=4, dilation=4), nn.ReLU(),
                    nn.Conv1d(64, C, 1), nn.Linear(128, 32)).to(dev)
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, nesterov=True)

# %%
hist = {"train": [], "val": []}
avg_val = None

# %% run this cell until the curve is flat
for rerun in range(160):
    net.train()
    total = 0.0
    for step in range(16):
        i = torch.randint(0, len(train), (128,), device=dev)
        batch = train[i]
        loss = F.smooth_l1_loss(net(batch[..., :128]), batch[..., 128:])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        total += loss.detach()
    hist["train"].append(total.item() / 16)

    # %% smoothed validation error
    net.eval()
    pred = net(xv)
    val = F.smooth_l1_loss(pred, yv)
    avg_val = val if avg_val is None else 0.95 * avg_val + 0.05 * val
    hist["val"].append(avg_val.item())

    # %% lower the rate when nothing happens any more
    if rerun > 20 and hist["val"][-1] > 0.999 * hist["val"][-10]:
        for group in opt.param_groups:
            group["lr"] *= 0.98

# %%
print(f"train {hist['train'][-1]:.4f}  val {hist['val'][-1]:.4f}  lr {opt.param_groups[0]['lr']:.4g}")
