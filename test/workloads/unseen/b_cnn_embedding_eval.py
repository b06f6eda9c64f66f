import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(11)
device = "cuda"
EPOCHS = 12


class SmallCNN(nn.Module):
    def __init__(self, classes=10, width=128):
        super().__init__()
        self.c1 = nn.Conv2d(3, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1, stride=2)
        self.proj = nn.Linear(32 * 4 * 4, width)
        self.head = nn.Linear(width, classes)

    def embed(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.relu(self.c2(x))
        return self.proj(x.flatten(1))  # SITE

    def forward(self, x):
        return self.head(F.relu(self.embed(x)))


class Evaluator:
    def __init__(self, model):
        self.model = model
        self.embeddings = []

    @torch.no_grad()
    def run(self, x, y):
        self.model.eval()
        correct = 0
        for i in range(0, len(x), 256):
            z = self.model.embed(x[i:i + 256])
            self.embeddings.append(z)  # HOLDER
            logits = self.model.head(F.relu(z))
            correct += (logits.argmax(1) == y[i:i + 256]).sum().item()
        spread = torch.cat(self.embeddings[-8:]).std().item()
        self.model.train()
        return correct / len(x), spread


x_train = torch.randn(4096, 3, 16, 16, device=device)
y_train = (x_train.mean((1, 2, 3)) * 60).long().clamp(-5, 4) + 5
x_val = torch.randn(2048, 3, 16, 16, device=device)
y_val = (x_val.mean((1, 2, 3)) * 60).long().clamp(-5, 4) + 5

model = SmallCNN().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
evaluator = Evaluator(model)
for epoch in range(EPOCHS):
    perm = torch.randperm(len(x_train), device=device)
    for idx in perm.split(64):
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    acc, spread = evaluator.run(x_val, y_val)
print(f"val acc {acc:.3f} spread {spread:.3f}")
