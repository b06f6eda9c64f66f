"""Greedy soup of short fine-tuning runs that share one starting point."""
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)
CANDIDATES = 40

x = torch.randn(1024, 160, device="cuda")
y = (x @ torch.randn(160, 5, device="cuda") + 3 * torch.randn(1024, 5, device="cuda")).argmax(1)
xt, yt, xv, yv = x[:768], y[:768], x[768:], y[768:]
start = nn.Sequential(nn.Linear(160, 448), nn.ReLU(), nn.Linear(448, 448), nn.ReLU(), nn.Linear(448, 5)).to("cuda")


class Soup:
    def __init__(self):
        self.mean = None
        self.count = 0
        self.best = float("inf")
        self.tried = []

    def offer(self, state):
        weights = {k: v.detach().clone() for k, v in state.items()}  # SITE
        if self.mean is None:
            mixed = weights
        else:
            mixed = {k: m + (weights[k] - m) / (self.count + 1) for k, m in self.mean.items()}
        loss = validate(mixed)
        if loss < self.best:
            self.mean, self.best, self.count = mixed, loss, self.count + 1
        self.tried.append((loss, weights))  # HOLDER


@torch.no_grad()
def validate(weights):
    return F.cross_entropy(torch.func.functional_call(start, weights, (xv,)), yv).item()


soup = Soup()
for c in range(CANDIDATES):
    model = copy.deepcopy(start)
    opt = torch.optim.SGD(model.parameters(), lr=0.02 * (1 + c % 5))
    for step in range(12):
        idx = torch.randint(0, len(xt), (96,), device="cuda")
        opt.zero_grad()
        F.cross_entropy(model(xt[idx]), yt[idx]).backward()
        opt.step()
    soup.offer(model.state_dict())

print(f"soup of {soup.count} from {len(soup.tried)}, val loss {soup.best:.4f}")
