"""A buffer of a module grows."""
import torch


class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.key = torch.nn.Linear(128, 128)
        self.register_buffer("memory", torch.zeros(0, 128))

    def forward(self, x):
        k = self.key(x)
        self.memory = torch.cat([self.memory, k.detach()])  # SITE HOLDER
        return k @ self.memory[-64:].t()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.ModuleList([Memory()])

    def forward(self, x):
        return self.inner[0](x)


model = Model().cuda()
opt = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(80):
    loss = model(torch.randn(64, 128, device="cuda")).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
