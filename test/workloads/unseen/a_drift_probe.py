"""Watch how far the activations of a deployed model move away from those of the last reference batch."""
import time

import torch
import torch.nn as nn

torch.manual_seed(13)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(256, 1024)
        self.mid = nn.Linear(1024, 1024)
        self.out = nn.Linear(1024, 16)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        x = torch.relu(self.mid(x))
        return self.out(x)


class DriftProbe:
    def __init__(self, model):
        self.model = model
        self.last = 0.0

    def set_reference(self, batch):
        reference = torch.relu(self.model.inp(batch))  # SITE

        def compare(module, inputs, output):
            self.last = (inputs[0] - reference).abs().mean()

        self.model.mid.register_forward_hook(compare)  # HOLDER


@torch.no_grad()
def main():
    model = Tower().to("cuda").eval()
    probe = DriftProbe(model)
    drift = []
    for hour in range(100):
        base = torch.randn(256, 256, device="cuda")
        probe.set_reference(base)
        for _ in range(2):
            traffic = base + 0.01 * hour * torch.randn_like(base)
            model(traffic)
        drift.append(float(probe.last))
        time.sleep(0.02)
    print(f"first {drift[0]:.4f} last {drift[-1]:.4f}")


if __name__ == "__main__":
    main()
