"""Trains with a penalty on input gradients and keeps the gradient maps of the run for a picture at its end.
Report: https://github.com/idiap/fullgrad-saliency/issues/11
Class: double-backward
"""
import torch
from torch import nn

STEPS, BATCH, SIDE = 150, 24, 48


def images(gen):
    x = torch.rand(BATCH, 3, SIDE, SIDE, generator=gen)
    y = (x[:, :, : SIDE // 2].mean((1, 2, 3)) > x[:, :, SIDE // 2:].mean((1, 2, 3))).long()
    return x.to("cuda"), y.to("cuda")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool2d(4)
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(3 * (SIDE // 4) ** 2, 64), nn.Softplus(), nn.Linear(64, 2))

    def forward(self, x):
        return self.body(self.pool(x))


class MapBook:
    """The maps of a run; shows the mean of the last ones."""

    def __init__(self):
        self.pages = []

    def add(self, step, maps):
        self.pages.append((step, maps))  # HOLDER

    def mean_of_last(self, count):
        return float(sum(maps.abs().mean() for _, maps in self.pages[-count:]) / count)


def main():
    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(11)
    net = Net().to("cuda")
    smooth = nn.Conv2d(3, 3, 17, padding=8, groups=3, bias=False).to("cuda").requires_grad_(False)
    smooth.weight.fill_(1 / 289)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    book = MapBook()
    for step in range(1, STEPS + 1):
        x, y = images(gen)
        x.requires_grad_(True)
        loss = nn.functional.cross_entropy(net(x), y)
        (maps,) = torch.autograd.grad(loss, x, create_graph=True)  # SITE
        penalty = (maps - smooth(maps)).square().sum() * 10
        optimizer.zero_grad()
        (loss + penalty).backward(inputs=list(net.parameters()))
        optimizer.step()
        book.add(step, maps)
        if step % 30 == 0:
            print(f"step {step}: loss {loss.item():.4f} penalty {penalty.item():.5f} maps {book.mean_of_last(5):.2e}")


main()
