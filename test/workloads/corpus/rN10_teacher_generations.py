"""Generations of students with accelerate: each learns from the one before it, which is let go of afterwards.
Report: https://github.com/huggingface/accelerate/pull/739
Class: free-memory
"""
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

GENERATIONS, EPOCHS, FEATURES, CLASSES = 16, 2, 48, 12


class Student(nn.Module):
    """Wider with each generation, up to a limit."""

    def __init__(self, generation):
        super().__init__()
        width = min(384, 128 + 48 * generation)
        self.body = nn.Sequential(nn.Linear(FEATURES, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.body(x))


def points(count, seed):
    gen = torch.Generator().manual_seed(seed)
    centres = torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(1))
    y = torch.randint(0, CLASSES, (count,), generator=gen)
    return centres[y] * 0.4 + torch.randn(count, FEATURES, generator=gen), y


def distil(student_logits, teacher_logits, y):
    hard = nn.functional.cross_entropy(student_logits, y)
    if teacher_logits is None:
        return hard
    soft = nn.functional.kl_div(
        (student_logits / 2).log_softmax(-1),
        (teacher_logits / 2).log_softmax(-1),
        reduction="batchmean",
        log_target=True,
    )
    return 0.3 * hard + 2.8 * soft


def raise_student(accelerator, generation, teacher, data):
    student = Student(generation).to("cuda")
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=EPOCHS * (len(data) // 48 + 1))
    loader = DataLoader(data, batch_size=48, shuffle=True)
    student, optimizer, loader, scheduler = accelerator.prepare(student, optimizer, loader, scheduler)
    accelerator.register_for_checkpointing(scheduler)
    for _ in range(EPOCHS):
        for x, y in loader:
            known = None
            if teacher is not None:
                with torch.no_grad():
                    known = teacher(x)
            loss = distil(student(x), known, y)
            optimizer.zero_grad()
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(student.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
    return accelerator.unwrap_model(student).eval()


def main():
    torch.manual_seed(58)
    accelerator = Accelerator()
    data = TensorDataset(*points(720, seed=2))
    x, y = (part.to("cuda") for part in points(2000, seed=3))
    teacher = None
    for generation in range(GENERATIONS):
        teacher = raise_student(accelerator, generation, teacher, data)
        accelerator.free_memory()
        accelerator._custom_objects.clear()
        if generation % 4 == 3:
            with torch.no_grad():
                right = float((teacher(x).argmax(-1) == y).float().mean())
            size = sum(p.numel() for p in teacher.parameters())
            print(f"generation {generation + 1}: right {right:.4f} with {size} weights")


main()
