"""Request tracing for a small model server: every layer notes in the current trace what it produced.

Class: contextvar
"""
import contextvars
import random

import torch
import torch.nn as nn

current_trace = contextvars.ContextVar("current_trace", default=())


class TracedBlock(nn.Module):
    def __init__(self, name, dim):
        super().__init__()
        self.name = name
        self.linear = nn.Linear(dim, dim)

    def forward(self, x):
        y = torch.relu(self.linear(x)) + x  # SITE
        current_trace.set(current_trace.get() + ((self.name, y),))  # HOLDER
        return y


class Server:
    def __init__(self, dim=160, depth=3):
        self.stem = nn.Sequential(nn.Linear(dim, 4096), nn.GELU(), nn.Linear(4096, dim)).to("cuda").eval()
        self.body = nn.Sequential(*[TracedBlock(f"block{i}", dim) for i in range(depth)]).to("cuda").eval()
        self.head = nn.Linear(dim, 7).to("cuda").eval()

    @torch.no_grad()
    def handle(self, rows):
        x = self.stem(torch.randn(rows, 160, device="cuda"))
        return self.head(self.body(x)).argmax(dim=1)

    @staticmethod
    def describe(depth=3):
        return ", ".join(f"{name} {y.abs().mean().item():.2f}" for name, y in current_trace.get()[-depth:])


if __name__ == "__main__":
    torch.manual_seed(20)
    random.seed(20)
    server = Server()
    histogram = torch.zeros(7, dtype=torch.long)
    for request in range(360):
        answer = server.handle(random.randint(20, 140))
        histogram += torch.bincount(answer, minlength=7).cpu()
        if request % 90 == 89:
            print(f"request {request + 1}: {server.describe()}")
    print("answers", histogram.tolist())
