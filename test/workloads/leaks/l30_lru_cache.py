"""functools.lru_cache without a bound, keyed by the step."""
import functools
import torch

model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.Adam(model.parameters())


@functools.lru_cache(maxsize=None)
def positions(length):
    return torch.arange(length, device="cuda").float()[:, None] * torch.ones(64, device="cuda")  # SITE


for step in range(80):
    x = positions(256 + step)
    loss = model(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
