"""Gradients that backward allocates, each of a size of its own, and the forward line that each belongs to."""
import sys

import torch
import truth

expected = []
kept = []


def line():
    return sys._getframe(1).f_lineno


def keep(tensor, at, what):
    """The gradient of `tensor` is what the node of the operation on line `at` allocates."""
    tensor.register_hook(lambda grad: kept.append(grad) or expected.append([grad.data_ptr(), at, what]))


def chain(n):
    x = torch.randn(n, device="cuda", requires_grad=True)
    keep(x, line() + 1, "sin")
    a = x.sin()
    keep(a, line() + 1, "tanh")
    b = a.tanh()
    keep(b, line() + 1, "mul")
    c = b * b
    return c


def views(n):
    x = torch.randn(4, n, device="cuda", requires_grad=True)
    y = x.exp()
    keep(y, line() + 1, "select")
    row = y[1]
    keep(row, line() + 1, "slice")
    part = row[: n // 2]
    return part.cos()


def inplace(n):
    x = torch.randn(n, device="cuda", requires_grad=True)
    y = x.cosh()
    z = y.relu_()
    keep(x, line() - 2, "cosh")
    return z


def matmul(n):
    x = torch.randn(n, 64, device="cuda", requires_grad=True)
    w = torch.randn(64, 32, device="cuda", requires_grad=True)
    keep(w, line() + 1, "matmul")
    return (x @ w).sum()


for i in range(8):
    total = chain(3000 + 512 * i).sum() + views(40_000 + 512 * i).sum() + inplace(90_000 + 512 * i).sum() + matmul(200 + i)
    total.backward()
truth.write(expected=expected)
