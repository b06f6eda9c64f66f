"""Distil a transformer language model into a small GRU; soft targets serve both the KL and the agreement."""
import functools

import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
VOCAB, LEN, BATCH, TEMP = 512, 16, 32, 2.0
EPOCHS, STEPS = 12, 60


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 256)
        layer = nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(256, VOCAB)

    def forward(self, tokens):
        return self.head(self.enc(self.emb(tokens)))


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 96)
        self.rnn = nn.GRU(96, 192, batch_first=True)
        self.head = nn.Linear(192, VOCAB)

    def forward(self, tokens):
        return self.head(self.rnn(self.emb(tokens))[0])


torch.manual_seed(6)
corpus = torch.randint(0, VOCAB, (400_000,), device=DEV)
teacher = Teacher().to(DEV).eval().requires_grad_(False)
student = Student().to(DEV)


def batch(epoch, i):
    shift = epoch * 7 + i * BATCH * LEN
    return corpus[shift:shift + BATCH * LEN].view(BATCH, LEN)


@functools.cache
def soft_targets(epoch, i):
    logits = teacher(batch(epoch, i))
    return F.softmax(logits / TEMP, dim=-1)


def kd_loss(out, epoch, i):
    return F.kl_div(F.log_softmax(out / TEMP, -1), soft_targets(epoch, i), reduction="batchmean") * TEMP ** 2


def agreement(out, epoch, i):
    return (out.argmax(-1) == soft_targets(epoch, i).argmax(-1)).float().mean()


opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=4, gamma=0.5)
for epoch in range(EPOCHS):
    agree = 0.0
    for i in range(STEPS):
        out = student(batch(epoch, i))
        loss = kd_loss(out, epoch, i)
        opt.zero_grad()
        loss.backward()
        opt.step()
        agree += agreement(out, epoch, i).item() / STEPS
    sched.step()
print(f"distilled: kl {loss.item():.3f} agreement {agree:.3f}")
