"""Trains a small ConvNeXt from timm; debug records wait in a handler and are written out only if the run fails.
Class: logging-handler
"""
import logging

import timm
import torch
from torch import nn

log = logging.getLogger("train")


class FlightRecorder(logging.Handler):
    """Holds the debug records back until something goes wrong."""

    def __init__(self, target):
        super().__init__(level=logging.DEBUG)
        self.target = target
        self.records = []

    def emit(self, record):
        self.records.append(record)  # HOLDER
        if record.levelno >= logging.ERROR:
            for waiting in self.records:
                self.target.handle(waiting)
            self.records.clear()


def train(model, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        images = torch.randn(8, 3, 64, 64, device="cuda")
        labels = (images.mean(dim=(1, 2, 3)) > 0).long()
        features = model.forward_features(images)
        logits = model.forward_head(features)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        activity = features.detach().abs()  # SITE
        log.debug("step %d: gradient norm %.3f, channel activity %s", step, grad_norm.item(), activity)
        if step % 30 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


def main():
    torch.manual_seed(2)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    log.addHandler(FlightRecorder(logging.StreamHandler()))
    train(timm.create_model("test_convnext", pretrained=False, num_classes=2).to("cuda"), steps=120)


if __name__ == "__main__":
    main()
