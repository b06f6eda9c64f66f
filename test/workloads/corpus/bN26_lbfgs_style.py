"""Neural style transfer in small: the pixels are optimised with LBFGS against the Gram matrices of a random network.
Report: https://github.com/rfeinman/pytorch-minimize/issues/29
Class: lbfgs
"""
import torch
import torch.nn.functional as F
from torch import nn


def gram(features):
    flat = features.flatten(2)
    return flat @ flat.transpose(1, 2) / flat.shape[2]


class StyleLoss:
    def __init__(self, net, style, content):
        self.net = net
        with torch.no_grad():
            self.style = [gram(f) for f in self.features(style)]
            self.content = self.features(content)[-1]

    def features(self, x):
        outputs = []
        for layer in self.net:
            x = layer(x)
            if isinstance(layer, nn.ReLU):
                outputs.append(x)
        return outputs

    def __call__(self, image):
        features = self.features(image)
        style = sum(F.mse_loss(gram(f), s) for f, s in zip(features, self.style))
        return 50.0 * style + F.mse_loss(features[-1], self.content)


def main():
    torch.manual_seed(149)
    net = nn.Sequential(
        nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU()
    ).to("cuda").requires_grad_(False)
    content, style = torch.rand(1, 3, 48, 48, device="cuda"), torch.rand(1, 3, 48, 48, device="cuda").round()
    objective = StyleLoss(net, style, content)
    image = content.clone().requires_grad_(True)
    optimizer = torch.optim.LBFGS(
        [image], lr=0.4, max_iter=1, history_size=150, tolerance_change=0.0, tolerance_grad=0.0
    )

    for step in range(320):
        def closure():
            optimizer.zero_grad()
            loss = objective(image)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        with torch.no_grad():
            image.clamp_(0, 1)
        if step % 64 == 0:
            print(f"step {step}: loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
