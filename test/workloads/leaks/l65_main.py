"""Losses kept with their graphs by the locals of a function: at the end of the program nothing of them is left."""
import time

import torch


def main():
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())

    losses = []
    for step in range(500):
        x = torch.randn(64, 64, device="cuda")
        out = model(x)  # SITE
        loss = (out - x).square().mean()
        losses.append(loss)  # HOLDER
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        time.sleep(0.02)  # so that it can be asked meanwhile
    print(len(losses))


main()
