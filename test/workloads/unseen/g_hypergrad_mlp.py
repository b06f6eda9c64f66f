"""Hand-written gradient descent with learned step sizes per coordinate (hypergradient descent)."""
import torch
import torch.nn.functional as F

torch.manual_seed(6)
dev = torch.device("cuda")
ITERS, N, D, H, C = 300, 2048, 512, 384, 10

teacher = torch.randn(D, C, device=dev)


def draw(n=N):
    x = torch.randn(n, D, device=dev)
    return x, (x @ teacher + 2 * torch.randn(n, C, device=dev)).argmax(1)


def forward(x, params):
    w1, w2 = params
    return torch.relu(x @ w1) @ w2


params = [torch.randn(D, H, device=dev).div_(D ** 0.5).requires_grad_(),
          torch.randn(H, C, device=dev).div_(H ** 0.5).requires_grad_()]
log_lr = [torch.full_like(p, -2.3).requires_grad_() for p in params]
hyper_lr = 0.02

for it in range(ITERS):
    x, y = draw()
    loss = F.cross_entropy(forward(x, params), y)
    grads = torch.autograd.grad(loss, params)
    # d loss(next) / d log_lr needs one differentiable step
    params = [
        p - torch.exp(s) * g
        for p, s, g in zip(params, log_lr, grads)
    ]
    xv, yv = draw(512)
    val = F.cross_entropy(forward(xv, params), yv)
    hyper = torch.autograd.grad(val, params)
    with torch.no_grad():
        for s, g, h in zip(log_lr, grads, hyper):
            step = -g * s.exp() * h
            s.sub_(hyper_lr * step.sign() * (step.abs() > 1e-12))
            s.clamp_(-6.0, 0.0)

with torch.no_grad():
    xt, yt = draw(8192)
    acc = (forward(xt, params).argmax(1) == yt).float().mean()
print(f"accuracy {acc.item():.3f} mean log lr {log_lr[0].mean().item():.3f}")
