"""Regression that reports how strongly the output reacts to the inputs, with the gradient of a probe batch.

Report: https://github.com/pytorch/pytorch/issues/4661
Class: create-graph
"""
import torch
import torch.nn as nn


def sensitivity(model, batch):
    """Norm of the input gradient, averaged over a batch."""
    probe = batch.clone().requires_grad_()  # ALSO
    model(probe).sum().backward(create_graph=True)  # SITE HOLDER
    return probe.grad.norm(dim=1).mean().item()


def main():
    torch.manual_seed(19)
    model = nn.Sequential(nn.Linear(16, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1)).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    weights = torch.randn(16, device="cuda")
    for step in range(400):
        x = torch.randn(128, 16, device="cuda")
        y = torch.sin(x @ weights).unsqueeze(1)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            value = sensitivity(model, x[:64])
            optimizer.zero_grad()
            if step % 80 == 0:
                print(f"step {step}: loss {loss.item():.4f} sensitivity {value:.3f}")


if __name__ == "__main__":
    main()
