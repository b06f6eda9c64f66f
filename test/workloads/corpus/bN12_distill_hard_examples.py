"""Distils one timm network into a smaller one and keeps the hardest pictures in a heap to train on them again.
Class: top-k heap
"""
import heapq
import itertools

import timm
import torch
import torch.nn.functional as F


class HardExamples:
    """The `capacity` pictures with the largest distillation loss so far."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.heap = []
        self.tie = itertools.count()

    def offer(self, images, losses):
        for image, loss in zip(images, losses.tolist()):
            entry = (loss, next(self.tie), image.clone())
            if len(self.heap) < self.capacity:
                heapq.heappush(self.heap, entry)
            else:
                heapq.heappushpop(self.heap, entry)

    def sample(self, count):
        picked = torch.randperm(len(self.heap))[:count].tolist()
        return torch.stack([self.heap[i][2] for i in picked])


def distil_loss(student, teacher, images, temperature=3.0):
    with torch.no_grad():
        target = F.softmax(teacher(images) / temperature, dim=1)
    log_probs = F.log_softmax(student(images) / temperature, dim=1)
    return F.kl_div(log_probs, target, reduction="none").sum(dim=1) * temperature ** 2


torch.manual_seed(10)
teacher = timm.create_model("test_resnet", pretrained=False, num_classes=16).to("cuda").eval()
student = timm.create_model("test_efficientnet", pretrained=False, num_classes=16).to("cuda")
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
hard = HardExamples(capacity=128)
for step in range(90):
    scale = 0.5 + torch.rand(8, 1, 1, 1, device="cuda")
    images = scale * torch.randn(8, 3, 40, 40, device="cuda")
    losses = distil_loss(student, teacher, images)
    loss = losses.mean()
    if len(hard.heap) >= 32 and step % 2:
        loss = loss + 0.5 * distil_loss(student, teacher, hard.sample(8)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    hard.offer(images, losses.detach())
    if step % 20 == 0:
        print(f"step {step}: loss {losses.mean().item():.5f}, {len(hard.heap)} hard pictures")
