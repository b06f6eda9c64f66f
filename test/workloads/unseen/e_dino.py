"""DINO-style self-distillation: student, EMA teacher, centring and sharpening."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
STEPS, BATCH = 800, 128


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(768, 512)
        self.fc2 = nn.Linear(512, 512)
        self.proj = nn.Linear(512, 1024)

    def forward(self, x):
        h = self.fc1(x)
        h = F.gelu(h)
        h = self.fc2(h)
        h = F.gelu(h)
        return self.proj(h)


class DinoLoss(nn.Module):
    def __init__(self, dim, momentum=0.9):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("center", torch.zeros(1, dim))

    def forward(self, student_out, teacher_out):
        target = F.softmax((teacher_out - self.center) / 0.05, dim=-1).detach()
        loss = -(target * F.log_softmax(student_out / 0.1, dim=-1)).sum(-1).mean()
        self.update_center(teacher_out)
        return loss

    def update_center(self, teacher_out):
        batch_center = teacher_out.mean(dim=0, keepdim=True)
        self.center = self.center * self.momentum + batch_center * (1 - self.momentum)


def views(base):
    crop = base * (torch.rand_like(base) > 0.3)
    return crop + 0.1 * torch.randn_like(base)


torch.manual_seed(5)
student = Net().to(DEV)
teacher = copy.deepcopy(student)
teacher.eval()
criterion = DinoLoss(1024).to(DEV)
opt = torch.optim.AdamW(student.parameters(), lr=5e-4, weight_decay=0.04)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 100))
protos = torch.randn(32, 768, device=DEV)
for step in range(STEPS):
    base = protos[torch.randint(0, 32, (BATCH,), device=DEV)]
    loss = criterion(student(views(base)), teacher(views(base)))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(student.parameters(), 3.0)
    opt.step()
    sched.step()
    m = 0.996 + 0.004 * step / STEPS
    with torch.no_grad():
        for pt, ps in zip(teacher.parameters(), student.parameters()):
            pt.mul_(m).add_(ps, alpha=1 - m)
print(f"dino: loss {loss.item():.4f} centre norm {criterion.center.norm().item():.4f}")
