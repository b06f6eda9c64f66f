"""Experts are used for the first time ever later: their optimizer state comes step by step, then no more."""
import random
import torch

random.seed(1)
experts = torch.nn.ModuleList(torch.nn.Linear(128, 128) for _ in range(24)).cuda()
optimizer = torch.optim.Adam(experts.parameters())
for step in range(150):
    x = torch.randn(64, 128, device="cuda")
    chosen = experts[min(int(random.expovariate(0.25)), 23)]
    loss = chosen(x).square().mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
