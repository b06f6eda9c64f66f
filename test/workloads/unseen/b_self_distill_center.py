import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(55)
device = "cuda"
STEPS, BATCH, DIM, HIDDEN, OUT = 200, 256, 128, 512, 64


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(DIM, HIDDEN)
        self.b = nn.Linear(HIDDEN, HIDDEN)
        self.c = nn.Linear(HIDDEN, OUT)

    def forward(self, x):
        x = F.gelu(self.a(x))  # SITE
        x = F.gelu(self.b(x))  # SITE
        return self.c(x)


class Distiller:
    def __init__(self):
        self.student = Head().to(device)
        self.teacher = copy.deepcopy(self.student)
        self.center = torch.zeros(OUT, device=device)

    def loss(self, view1, view2):
        s = self.student(view1)
        t = self.teacher(view2)  # SITE
        soft = ((t - self.center) / 0.04).softmax(-1).detach()
        value = -(soft * F.log_softmax(s / 0.1, -1)).sum(-1).mean()
        self.center = 0.9 * self.center + 0.1 * t.mean(0)  # HOLDER
        return value

    @torch.no_grad()
    def update_teacher(self, m):
        for ps, pt in zip(self.student.parameters(), self.teacher.parameters()):
            pt.mul_(m).add_(ps, alpha=1 - m)


data = torch.randn(4096, DIM, device=device)
distiller = Distiller()
opt = torch.optim.AdamW(distiller.student.parameters(), lr=5e-4)
for step in range(STEPS):
    x = data[torch.randint(0, 4096, (BATCH,), device=device)]
    v1 = x + 0.1 * torch.randn_like(x)
    v2 = x * (torch.rand_like(x) > 0.1)  # SITE
    loss = distiller.loss(v1, v2)
    opt.zero_grad()
    loss.backward()
    opt.step()
    distiller.update_teacher(0.99 + 0.01 * step / STEPS)
print(f"loss {loss.item():.4f} center norm {distiller.center.norm().item():.4f}")
