"""Iterative magnitude pruning: each round masks the smallest weights of all layers together, then trains on.
Report: https://github.com/pytorch/pytorch/issues/34257
Class: pruning-masks
"""
import torch
from torch import nn
from torch.nn.utils import prune

ROUNDS, STEPS, WIDTH = 60, 8, 384


def batch(gen, truth, size=192):
    x = torch.randn(size, WIDTH, generator=gen)
    return x.to("cuda"), (x @ truth).sin().to("cuda")


def layers_of(net):
    return [module for module in net if isinstance(module, nn.Linear) and module.out_features == WIDTH]


def threshold(layers, share):
    """The size below which this share of all weights lies."""
    sizes = torch.cat([layer.weight.detach().abs().flatten() for layer in layers])
    alive = sizes[sizes > 0]
    return alive.kthvalue(max(1, int(share * alive.numel()))).values


def prune_round(net, share):
    layers = layers_of(net)
    limit = threshold(layers, share)
    for layer in layers:
        mask = (layer.weight.detach().abs() > limit).float()  # SITE
        prune.custom_from_mask(layer, "weight", mask)  # HOLDER


def sparsity(net):
    layers = layers_of(net)
    zeros = sum(int((layer.weight == 0).sum()) for layer in layers)
    return zeros / sum(layer.weight.numel() for layer in layers)


def train(net, optimizer, gen, truth):
    for _ in range(STEPS):
        x, y = batch(gen, truth)
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(8)
    gen = torch.Generator().manual_seed(8)
    truth = torch.randn(WIDTH, 4, generator=gen) / WIDTH**0.5
    net = nn.Sequential(
        nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4),
    ).to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for number in range(1, ROUNDS + 1):
        loss = train(net, optimizer, gen, truth)
        prune_round(net, share=0.04)
        if number % 12 == 0:
            print(f"round {number}: loss {loss:.4f} sparsity {sparsity(net):.3f}")


main()
