# %%
import copy
import torch
import torch.nn as nn

torch.manual_seed(21)

# %%
x = torch.randn(1024, 400, device="cuda")
w = torch.randn(400, 1, device="cuda") / 20
y = torch.tanh(x @ w) + 0.05 * torch.randn(1024, 1, device="cuda")
x_test, y_test = x[768:], y[768:]
x, y = x[:768], y[:768]

# %%
lrs = [0.05, 0.03, 0.01, 0.003, 0.001]
wds = [0.0, 1e-4, 1e-3, 1e-2]
runs = {}

# %%
for lr in lrs:
    for wd in wds:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(400, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 1)).to("cuda")
        opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=wd)
        for step in range(40):
            idx = torch.randint(0, 768, (128,), device="cuda")
            opt.zero_grad(set_to_none=True)
            err = (model(x[idx]) - y[idx]).pow(2).mean()
            err.backward()
            opt.step()
        with torch.no_grad():
            test = (model(x_test) - y_test).pow(2).mean().item()
        snapshot = copy.deepcopy(model.state_dict())  # SITE
        runs[(lr, wd)] = {"test": test, "state": snapshot}  # HOLDER

# %%
ranked = sorted(runs, key=lambda k: runs[k]["test"])
print("best lr %g wd %g test %.4f" % (*ranked[0], runs[ranked[0]]["test"]))
