"""A mask cache by (batch, length), and shapes that never come again."""
import random
import torch

random.seed(0)


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(64, 64)
        self.masks = {}

    def mask(self, length, step):
        key = (length, step // 1)
        if key not in self.masks:
            self.masks[key] = torch.ones(length, length, device="cuda").tril()  # SITE HOLDER
        return self.masks[key]

    def forward(self, x, step):
        scores = x @ x.transpose(1, 2)
        scores = scores.masked_fill(self.mask(x.shape[1], step) == 0, -1e9)
        return self.project(torch.softmax(scores, -1) @ x)


net = Attention().cuda()
optimizer = torch.optim.Adam(net.parameters())
for step in range(80):
    x = torch.randn(4, random.randint(32, 128), 64, device="cuda")
    loss = net(x, step).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
