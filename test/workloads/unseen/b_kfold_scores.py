import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(22)
device = "cuda"
FOLDS, EPOCHS, N, DIM = 10, 8, 3000, 64


class MLP(nn.Module):
    def __init__(self, hidden=640):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(DIM, hidden), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 5))

    def forward(self, x):
        return self.layers(x)


def fit(model, opt, x, y):
    model.train()
    for _ in range(EPOCHS):
        for idx in torch.randperm(len(x), device=device).split(90):
            opt.zero_grad()
            F.cross_entropy(model(x[idx]), y[idx]).backward()
            opt.step()


x = torch.randn(N, DIM, device=device)
y = (x.view(N, 16, 4).abs().amax(2)[:, :5]).argmax(1)
order = torch.randperm(N, device=device)

results = []
best_state, best_acc = None, -1.0
oof = torch.zeros(N, 5, device=device)
for fold, test_idx in enumerate(order.chunk(FOLDS)):
    mask = torch.ones(N, dtype=torch.bool, device=device)
    mask[test_idx] = False
    model = MLP().to(device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    fit(model, opt, x[mask], y[mask])
    model.eval()
    with torch.no_grad():
        oof[test_idx] = model(x[test_idx]).softmax(1)
    acc = (oof[test_idx].argmax(1) == y[test_idx]).float().mean().item()
    results.append({"fold": fold, "acc": acc, "steps": EPOCHS * len(x)})
    if acc > best_acc:
        best_acc, best_state = acc, {k: v.clone() for k, v in model.state_dict().items()}

final = MLP().to(device)
final.load_state_dict(best_state)
oof_acc = (oof.argmax(1) == y).float().mean().item()
print(f"mean {sum(r['acc'] for r in results) / FOLDS:.3f} oof {oof_acc:.3f} best {best_acc:.3f}")
