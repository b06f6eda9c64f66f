"""Fine-tuning with gradual unfreezing (ULMFiT): from the head down, one residual block per epoch."""
import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
EPOCHS, STEPS, BATCH, WIDTH, BLOCKS = 24, 60, 256, 1024, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.fc = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + F.gelu(self.fc(self.norm(x)))


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.head = nn.Linear(WIDTH, classes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def sample(centers, n):
    y = torch.randint(0, len(centers), (n,), device=DEV)
    return centers[y] + 2.0 * torch.randn(n, WIDTH, device=DEV), y


def main():
    torch.manual_seed(1)
    model = Classifier(20).to(DEV)
    model.blocks.requires_grad_(False)
    centers = torch.randn(20, WIDTH, device=DEV)
    opt = torch.optim.AdamW(model.head.parameters(), lr=1e-3)
    accs = []
    for epoch in range(EPOCHS):
        if 0 < epoch <= BLOCKS:
            block = model.blocks[BLOCKS - epoch]
            block.requires_grad_(True)
            opt.add_param_group({"params": list(block.parameters()), "lr": 1e-3 / 1.5 ** epoch})
        for _ in range(STEPS):
            x, y = sample(centers, BATCH)
            loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            x, y = sample(centers, 2048)
            accs.append((model(x).argmax(1) == y).float().mean().item())
    print(f"unfreezing: accuracy {accs[0]:.3f} -> {accs[-1]:.3f}, {len(opt.param_groups)} groups")


main()
