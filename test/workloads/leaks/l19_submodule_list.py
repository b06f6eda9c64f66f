"""A list of a module below another one."""
import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(256, 256)
        self.features = []

    def forward(self, x):
        y = torch.relu(self.fc(x))
        self.features.append(y.detach() * 1.0)  # SITE HOLDER
        return y


net = torch.nn.Sequential(Block(), torch.nn.Linear(256, 256)).cuda()
opt = torch.optim.Adam(net.parameters())
for step in range(60):
    x = torch.randn(128, 256, device="cuda")
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
