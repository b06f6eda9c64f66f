"""Logs through Accelerate into a little in-memory tracker; besides the loss also the per-unit activity of a layer.

Report: https://github.com/KempnerInstitute/overcomplete/issues/5
Class: tracker
"""
import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.tracking import GeneralTracker

DEVICE = "cuda"


class TableTracker(GeneralTracker):
    """Keeps rows in memory, for a table at the end of the run."""

    name = "table"
    requires_logging_directory = False

    def __init__(self):
        super().__init__()
        self.rows = []

    @property
    def tracker(self):
        return self.rows

    def store_init_configuration(self, values):
        self.config = dict(values)

    def log(self, values, step=None, **kwargs):
        self.rows.append((step, values))  # HOLDER


def main():
    torch.manual_seed(9)
    accelerator = Accelerator(cpu=DEVICE == "cpu", log_with=TableTracker())
    accelerator.init_trackers("activity", config={"lr": 1e-3})
    body = nn.Sequential(nn.Linear(64, 2048), nn.ReLU())
    head = nn.Linear(2048, 10)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-3)
    body, head, optimizer = accelerator.prepare(body, head, optimizer)
    for step in range(320):
        x = torch.randn(32, 64, device=accelerator.device)
        hidden = body(x)
        loss = nn.functional.cross_entropy(head(hidden), x[:, :10].argmax(dim=1))
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        activity = (hidden.detach() > 0).float().mean(dim=0)  # SITE
        accelerator.log({"loss": loss.item(), "activity": activity}, step=step)
    rows = accelerator.get_tracker("table", unwrap=True)
    for step, values in rows[::80]:
        print(f"step {step}: loss {values['loss']:.3f} active {values['activity'].mean().item():.3f}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
