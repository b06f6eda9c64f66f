"""The usual timm recipe in small: mixup, label smoothing, EMA of the model and a cosine schedule with warm-up.
Report: https://github.com/Lightning-AI/pytorch-lightning/issues/1510
Class: ema
"""
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import AverageMeter, ModelEmaV3, accuracy

NUM_CLASSES, EPOCHS, STEPS = 10, 6, 20


def batches(count, prototypes, generator):
    for _ in range(count):
        labels = torch.randint(0, NUM_CLASSES, (16,), generator=generator)
        images = prototypes[labels] + torch.randn(16, 3, 48, 48, generator=generator)
        yield images.to("cuda"), labels.to("cuda")


@torch.no_grad()
def validate(model, prototypes):
    model.eval()
    meter = AverageMeter()
    for images, labels in batches(6, prototypes, torch.Generator().manual_seed(99)):
        (top1,) = accuracy(model(images), labels, topk=(1,))
        meter.update(top1.item(), len(labels))
    return meter.avg


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    prototypes = torch.randn(NUM_CLASSES, 3, 48, 48, generator=generator)
    model = timm.create_model(
        "vit_tiny_patch16_224", img_size=48, depth=3, embed_dim=96, num_heads=3, num_classes=NUM_CLASSES
    ).to("cuda")
    ema = ModelEmaV3(model, decay=0.98)
    optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
    scheduler = CosineLRScheduler(optimizer, t_initial=EPOCHS, warmup_t=1, warmup_lr_init=1e-5)
    mixup = Mixup(mixup_alpha=0.2, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=NUM_CLASSES)
    criterion = SoftTargetCrossEntropy()
    step = 0
    for epoch in range(EPOCHS):
        model.train()
        losses = AverageMeter()
        for images, labels in batches(STEPS, prototypes, generator):
            mixed, targets = mixup(images, labels)
            loss = criterion(model(mixed), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            ema.update(model, step=step)
            losses.update(loss.item(), len(labels))
        scheduler.step(epoch + 1)
        print(f"epoch {epoch}: loss {losses.avg:.3f}, EMA top-1 {validate(ema.module, prototypes):.1f}")


if __name__ == "__main__":
    main()
