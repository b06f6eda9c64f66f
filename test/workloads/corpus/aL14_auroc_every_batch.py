"""Click model with several actions: trains on a stream of batches and keeps an AUROC of the stream up to date.

Report: https://github.com/Lightning-AI/torchmetrics/issues/3294
Class: metric-list-state
"""
import torch
import torch.nn as nn
from torchmetrics.classification import MulticlassAUROC, MulticlassAccuracy

torch.manual_seed(10)
model = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 12)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
accuracy = MulticlassAccuracy(num_classes=12).to("cuda")
auroc = MulticlassAUROC(num_classes=12, thresholds=None).to("cuda")
teacher = torch.randn(30, 12, device="cuda")

for step in range(1, 301):
    x = torch.randn(512, 30, device="cuda")
    y = (x @ teacher).argmax(dim=1)  # ALSO
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    with torch.no_grad():
        auroc.update(torch.softmax(model(x), dim=1), y)  # SITE HOLDER
        accuracy.update(model(x), y)
    if step % 60 == 0:
        print(f"step {step}: loss {loss.item():.3f} accuracy {accuracy.compute().item():.3f}")
        accuracy.reset()

print(f"AUROC of the whole stream {auroc.compute().item():.3f}")
