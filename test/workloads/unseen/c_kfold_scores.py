"""Ten-fold evaluation of a small classifier on synthetic tabular data."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
FOLDS = 10
ROWS = 10240

features = torch.randn(ROWS, 64, device="cuda")
rule = torch.randn(64, 4, device="cuda")
labels = (features @ rule + torch.randn(ROWS, 4, device="cuda")).argmax(1)
folds = torch.randperm(ROWS, device="cuda").chunk(FOLDS)


def fit(rows):
    model = nn.Sequential(
        nn.Linear(64, 512), nn.ReLU(),
        nn.Linear(512, 128), nn.ReLU(),
        nn.Linear(128, 4),
    ).to("cuda")
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(50):
        idx = rows[torch.randint(0, len(rows), (256,), device="cuda")]
        opt.zero_grad()
        loss = F.cross_entropy(model(features[idx]), labels[idx])
        loss.backward()
        opt.step()
    return model


report = []
for k in range(FOLDS):
    train_rows = torch.cat([f for j, f in enumerate(folds) if j != k])
    model = fit(train_rows)
    model.eval()
    held_out = folds[k]
    logits = model(features[held_out])  # SITE
    accuracy = (logits.argmax(1) == labels[held_out]).float().mean().item()
    report.append({"fold": k, "accuracy": accuracy, "logits": logits})  # HOLDER

scores = torch.tensor([r["accuracy"] for r in report])
print(f"{FOLDS}-fold accuracy {scores.mean():.4f} +- {scores.std():.4f}")
