"""An object sums up losses with their graphs."""
import torch


class Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value):
        self.total = self.total + value  # HOLDER
        self.count += 1


net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
meter = Meter()
for epoch in range(2):
    for step in range(40):
        x = torch.randn(128, 256, device="cuda")
        t = torch.randint(10, (128,), device="cuda")
        logits = net(x)  # SITE
        loss = torch.nn.functional.cross_entropy(logits, t)
        opt.zero_grad()
        loss.backward(retain_graph=True)
        opt.step()
        meter.update(loss)
