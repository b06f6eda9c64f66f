"""A trainer with two optimizers keeps outputs under a key."""
import torch

g = torch.nn.Linear(64, 1024).cuda()
d = torch.nn.Linear(1024, 1).cuda()
og, od = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())


class Trainer:
    def __init__(self):
        self.history = {"fake": [], "loss": []}

    def step(self, i):
        fake = g(torch.randn(128, 64, device="cuda"))
        dl = d(fake.detach()).mean() - d(torch.randn(128, 1024, device="cuda")).mean()
        od.zero_grad()
        dl.backward()
        od.step()
        gl = -d(fake).mean()
        og.zero_grad()
        gl.backward()
        og.step()
        self.history["fake"].append(fake.detach().half())  # SITE HOLDER
        self.history["loss"].append(gl.item())


t = Trainer()
for i in range(60):
    t.step(i)
