"""timm training recipe in miniature: Mixup, soft targets, EMA of the weights and a cosine schedule.

Report: https://github.com/mosaicml/composer/pull/1941
Class: ema
"""
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3


def images(count):
    x = torch.randn(count, 3, 48, 48, device="cuda")
    return x, (x.mean(dim=(2, 3)) * torch.tensor([1.0, 1.1, 0.9], device="cuda")).argmax(dim=1)


@torch.no_grad()
def evaluate(model, batches=2):
    model.eval()
    hits = 0
    for _ in range(batches):
        x, y = images(32)
        hits += (model(x).argmax(dim=1) == y).sum().item()
    return hits / (32 * batches)


def main():
    torch.manual_seed(26)
    model = timm.create_model("test_vit", pretrained=False, num_classes=3, img_size=48).to("cuda")
    optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
    scheduler = CosineLRScheduler(optimizer, t_initial=10, warmup_t=2, warmup_lr_init=1e-4)
    ema = ModelEmaV3(model, decay=0.9)
    mixup = Mixup(mixup_alpha=0.2, num_classes=3, label_smoothing=0.1)
    criterion = SoftTargetCrossEntropy()
    for epoch in range(10):
        model.train()
        for _ in range(10):
            x, y = images(16)
            x, target = mixup(x, y)
            loss = criterion(model(x), target.to("cuda"))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update(model)
        scheduler.step(epoch + 1)
        if epoch % 3 == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f} accuracy of the average {evaluate(ema.module):.2f}")


if __name__ == "__main__":
    main()
