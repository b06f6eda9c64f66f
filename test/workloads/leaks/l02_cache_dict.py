"""A cache whose key never comes again."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())


class Encoder:
    def __init__(self):
        self.cache = {}

    def encode(self, key, x):
        self.cache[key] = torch.tanh(x)  # SITE HOLDER
        return self.cache[key]


encoder = Encoder()
for step in range(60):
    x = encoder.encode(step, torch.randn(256, 256, device="cuda"))
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
