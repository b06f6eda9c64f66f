"""Binarised network with a straight-through estimator and plain gradient descent."""
import torch
import torch.nn.functional as F

DEVICE = "cuda"
STEPS = 700
EVAL_BATCH = 512
WIDTH = 1024


class Binarise(torch.autograd.Function):
    """sign() forward, clipped identity backward; masks live on a stack."""
    stash = []

    @staticmethod
    def forward(ctx, x):
        mask = (x.abs() <= 1).to(x.dtype)
        Binarise.stash.append(mask)
        return torch.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        return grad * Binarise.stash.pop()


def forward(params, x):
    for w in params[:-1]:
        x = Binarise.apply(F.layer_norm(x @ w, (WIDTH,)))
    return x @ params[-1]


def batch(teacher, n):
    x = torch.randn(n, 256, device=DEVICE)
    return x, (x @ teacher).argmax(1)


def main():
    torch.manual_seed(8)
    teacher = torch.randn(256, 10, device=DEVICE)
    shapes = [(256, WIDTH), (WIDTH, WIDTH), (WIDTH, 10)]
    params = [(torch.randn(s, device=DEVICE) / s[0] ** 0.5).requires_grad_() for s in shapes]
    best = 0.0
    for step in range(STEPS):
        for _ in range(8):
            x, y = batch(teacher, 2048)
            loss = F.cross_entropy(forward(params, x), y)
            grads = torch.autograd.grad(loss, params)
            with torch.no_grad():
                for p, g in zip(params, grads):
                    p -= 0.05 * g
        with torch.no_grad():
            x, y = batch(teacher, EVAL_BATCH // 2)
            accuracy = (forward(params, x).argmax(1) == y).float().mean().item()
        best = max(best, accuracy)
    print(f"{STEPS} steps, best validation accuracy {best:.3f}")


main()
