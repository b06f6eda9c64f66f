"""A custom Function that saves on a module-level list what it should save on ctx."""
import torch

saved = []


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        saved.append(x * factor)  # SITE HOLDER
        ctx.index, ctx.factor = len(saved) - 1, factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor * (saved[ctx.index] > 0), None


model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(60):
    out = Scale.apply(model(torch.randn(128, 64, device="cuda")), 2.0)
    loss = out.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
