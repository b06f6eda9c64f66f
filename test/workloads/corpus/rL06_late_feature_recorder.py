"""Trains a small ViT and, from the second phase on, records what its third block sees, for a report after training.
Report: https://github.com/jacobgil/pytorch-grad-cam/issues/71
Class: hooks-late
"""
import torch
from transformers import ViTConfig, ViTForImageClassification

WARMUP, STEPS, BATCH, SIDE = 50, 150, 12, 32


class Recorder:
    """Keeps the input of a module, batch by batch, between start() and stop()."""

    def __init__(self, module):
        self.module = module
        self.seen = []
        self.handle = None

    def start(self):
        self.handle = self.module.register_forward_hook(self.hook)

    def stop(self):
        self.handle.remove()

    def hook(self, module, args, output):
        self.seen.append(args[0].detach())  # HOLDER

    def spread(self):
        newest = self.seen[-4:]
        return float(torch.stack([s.std(dim=0).mean() for s in newest]).mean()) if newest else 0.0


class Stem(torch.nn.Module):
    """Goes before the block under study and scales what comes in."""

    def __init__(self, block, width):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(width))
        self.block = block

    def forward(self, hidden, *args, **kwargs):
        scaled = hidden * self.scale  # SITE
        return self.block(scaled, *args, **kwargs)


def images(step):
    gen = torch.Generator().manual_seed(step)
    labels = torch.randint(0, 4, (BATCH,), generator=gen)
    pictures = 0.6 * torch.randn(BATCH, 3, SIDE, SIDE, generator=gen)
    for number, label in enumerate(labels.tolist()):
        row, column = divmod(label, 2)
        pictures[number, :, row * 16:row * 16 + 16, column * 16:column * 16 + 16] += 0.8
    return pictures.to("cuda"), labels.to("cuda")


def main():
    torch.manual_seed(6)
    config = ViTConfig(
        image_size=SIDE, patch_size=4, hidden_size=144, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=192, num_labels=4,
    )
    model = ViTForImageClassification(config)
    blocks = next(m for m in model.modules() if isinstance(m, torch.nn.ModuleList) and len(m) == 3)
    blocks[2] = Stem(blocks[2], config.hidden_size)
    model.to("cuda")
    recorder = Recorder(blocks[2].block)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, STEPS + 1):
        if step == WARMUP:
            recorder.start()
            for group in optimizer.param_groups:
                group["lr"] *= 0.3
        pictures, labels = images(step)
        out = model(pixel_values=pictures, labels=labels)
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
        if step % 50 == 0:
            hit = (out.logits.argmax(1) == labels).float().mean().item()
            print(f"step {step}: loss {out.loss.item():.4f} accuracy {hit:.2f} spread {recorder.spread():.4f}")
    recorder.stop()


main()
