"""The context of a custom autograd function is kept."""
import torch

saved = []


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        y = x * w
        ctx.extra = y.clone()  # SITE
        ctx.save_for_backward(x, w)
        saved.append(ctx)  # HOLDER
        return y

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, (g * x).sum(0)


w = torch.nn.Parameter(torch.ones(512, device="cuda"))
opt = torch.optim.SGD([w], lr=0.01)
for step in range(70):
    x = torch.randn(256, 512, device="cuda")
    loss = Scale.apply(x, w).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
