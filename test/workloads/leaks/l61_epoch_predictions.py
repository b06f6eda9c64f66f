"""Predictions of each validation are kept with the epoch."""
import torch

net = torch.nn.Linear(128, 10).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
results = {}


def validate():
    with torch.no_grad():
        return torch.cat([net(torch.randn(64, 128, device="cuda")) for _ in range(8)])  # SITE


for epoch in range(8):
    for step in range(15):
        loss = torch.nn.functional.cross_entropy(net(torch.randn(64, 128, device="cuda")), torch.randint(0, 10, (64,), device="cuda"))
        opt.zero_grad()
        loss.backward()
        opt.step()
    results[epoch] = validate()  # HOLDER
