"""Hyperparameter search across model families; the champion of each family goes into a final ensemble."""
import random

import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
TRIALS, STEPS, FEATS, CLASSES = 25, 70, 128, 12


class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inp, self.a, self.b = nn.Linear(FEATS, width), nn.Linear(width, width), nn.Linear(width, width)
        self.out = nn.Linear(width, CLASSES)

    def forward(self, x):
        h = F.relu(self.inp(x))
        return self.out(self.a(h) * torch.sigmoid(self.b(h)))


def plain(width, depth, act):
    layers = [nn.Linear(FEATS, width), act()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), act()]
    return nn.Sequential(*layers, nn.Linear(width, CLASSES))


FAMILIES = {
    "shallow": lambda: plain(2048, 1, nn.ReLU),
    "deep": lambda: plain(768, 5, nn.ReLU),
    "tanh": lambda: plain(1024, 3, nn.Tanh),
    "gated": lambda: Gated(1024),
    "selu": lambda: plain(896, 4, nn.SELU),
}
OPTIMIZERS = {"sgd": lambda p, lr: torch.optim.SGD(p, lr=lr * 20, momentum=0.9, nesterov=True),
              "adamw": lambda p, lr: torch.optim.AdamW(p, lr=lr),
              "radam": lambda p, lr: torch.optim.RAdam(p, lr=lr)}


def data(n, basis):
    x = torch.randn(n, FEATS, device=DEV)
    return x, (torch.tanh(x @ basis[0]) @ basis[1]).argmax(1)


def run_trial(family, cfg, basis, valid):
    model = FAMILIES[family]().to(DEV)
    opt = OPTIMIZERS[cfg["opt"]](model.parameters(), cfg["lr"])
    for _ in range(STEPS):
        x, y = data(512, basis)
        loss = F.cross_entropy(model(x), y, label_smoothing=cfg["smooth"])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        return model, (model(valid[0]).argmax(1) == valid[1]).float().mean().item()


random.seed(5)
torch.manual_seed(5)
basis = torch.randn(FEATS, 64, device=DEV) * 0.3, torch.randn(64, CLASSES, device=DEV)
valid = data(8192, basis)
champions, log = {}, []
for trial in range(TRIALS):
    family = list(FAMILIES)[trial % len(FAMILIES)]
    cfg = {"lr": 10 ** random.uniform(-4, -2.3), "smooth": random.choice([0.0, 0.1]), "opt": random.choice(list(OPTIMIZERS))}
    model, acc = run_trial(family, cfg, basis, valid)
    log.append((acc, family, cfg))
    if family not in champions or acc > champions[family][0]:
        champions[family] = (acc, {k: v.clone() for k, v in model.state_dict().items()})
votes = 0.0
for family, (_, weights) in champions.items():
    model = FAMILIES[family]().to(DEV)
    model.load_state_dict(weights)
    votes = votes + model(valid[0]).detach().softmax(1)
print(f"search: best single {max(l[0] for l in log):.3f} ensemble {(votes.argmax(1) == valid[1]).float().mean().item():.3f}")
