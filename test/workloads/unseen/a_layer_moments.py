"""Collect mean and covariance of the inputs of some layers by forward hooks, dataset after dataset."""
import time

import torch
import torch.nn as nn

torch.manual_seed(19)


class Moments:
    def __init__(self):
        self.count = 0
        self.mean = None
        self.cov = None

    def __call__(self, module, inputs, output):
        x = inputs[0].detach().flatten(0, -2)
        if self.mean is None:
            self.mean = torch.zeros(x.shape[-1], device=x.device)
            self.cov = torch.zeros(x.shape[-1], x.shape[-1], device=x.device)
        self.count += x.shape[0]
        delta = x - self.mean
        self.mean = self.mean + delta.sum(0) / self.count
        self.cov += delta.T @ (x - self.mean)


def collect(model, layers, data):
    moments = {name: Moments() for name in layers}
    handles = [model.get_submodule(n).register_forward_hook(m) for n, m in moments.items()]
    try:
        for batch in data:
            model(batch.to("cuda"))
    finally:
        for handle in handles:
            handle.remove()
    return {name: (m.mean, m.cov / m.count) for name, m in moments.items()}


@torch.no_grad()
def main():
    model = nn.Sequential(nn.Linear(200, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    model.to("cuda").eval()
    traces, previous, shift = [], None, 0.0
    for dataset in range(60):
        data = [torch.randn(256, 200) * (1 + 0.01 * dataset) for _ in range(2)]
        stats = collect(model, ["2", "4"], data)
        traces.append(sum(cov.trace().item() for _, cov in stats.values()))
        if previous is not None:
            shift += (stats["2"][0] - previous["2"][0]).norm().item()
        previous = stats
        time.sleep(0.04)
    print(f"trace {traces[0]:.4f} -> {traces[-1]:.4f} shift {shift:.4f}")


if __name__ == "__main__":
    main()
