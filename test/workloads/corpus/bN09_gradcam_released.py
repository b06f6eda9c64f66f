"""Writes Grad-CAM statistics for a stream of pictures; the hooks of each explanation are taken off behind it.
Report: https://github.com/jacobgil/pytorch-grad-cam/issues/195
Class: hooks
"""
import contextlib

import timm
import torch
import torch.nn.functional as F


@contextlib.contextmanager
def tapped(layer):
    saved = {}

    def on_forward(module, inputs, output):
        saved["activation"] = output
        output.register_hook(lambda grad: saved.update(gradient=grad))

    handle = layer.register_forward_hook(on_forward)
    try:
        yield saved
    finally:
        handle.remove()
        saved.clear()


def explain(model, layer, image):
    with tapped(layer) as saved:
        logits = model(image)
        target = int(logits.argmax())
        model.zero_grad()
        logits[0, target].backward()
        weight = saved["gradient"].mean(dim=(2, 3), keepdim=True)
        cam = F.relu((weight * saved["activation"]).sum(dim=1))
    return target, (cam > 0.5 * cam.max()).float().mean().item()


def main():
    torch.manual_seed(4)
    model = timm.create_model("mobilenetv3_small_050", pretrained=False, num_classes=30).to("cuda").eval()
    shares, counts = [], torch.zeros(30, dtype=torch.long)
    for index in range(90):
        side = 64 + 32 * (index % 3)
        target, share = explain(model, model.blocks[2], torch.rand(1, 3, side, side, device="cuda"))
        counts[target] += 1
        shares.append(share)
    print(f"hot area: {100 * sum(shares) / len(shares):.1f} %")
    print("most frequent class:", int(counts.argmax()))


if __name__ == "__main__":
    main()
