"""Softmax regression fitted by a hand-written L-BFGS."""
import torch

torch.manual_seed(18)
DEV = "cuda"
ITERS, N, D, C, MEMORY = 160, 8192, 3000, 40, 60

x = torch.randn(N, D, device=DEV) * torch.logspace(0, -2, D, device=DEV)
labels = (x @ torch.randn(D, C, device=DEV) + 0.5 * torch.randn(N, C, device=DEV)).argmax(1)
onehot = torch.nn.functional.one_hot(labels, C).float()


def value_and_grad(w, decay=1e-4):
    logits = x @ w.view(D, C)
    logp = logits.log_softmax(1)
    value = -(onehot * logp).sum(1).mean() + 0.5 * decay * w.square().sum()
    grad = x.t() @ (logp.exp() - onehot) / N
    return value.item(), grad.flatten() + decay * w


class Memory:
    """The last few (step, gradient change) pairs."""

    def __init__(self, size):
        self.size = size
        self.pairs = []

    def add(self, s, y):
        sy = torch.dot(s, y).item()
        if sy > 1e-12:
            self.pairs.append((s, y, 1.0 / sy))
        if len(self.pairs) > self.size:
            self.pairs.pop(0)

    def apply(self, g):
        q, alphas = g.clone(), []
        for s, y, rho in reversed(self.pairs):
            a = rho * torch.dot(s, q)
            q -= a * y
            alphas.append(a)
        if self.pairs:
            s, y, rho = self.pairs[-1]
            q /= rho * torch.dot(y, y)
        for (s, y, rho), a in zip(self.pairs, reversed(alphas)):
            q += (a - rho * torch.dot(y, q)) * s
        return q


def line_search(w, f, g, direction):
    slope = torch.dot(g, direction).item()
    t = 1.0
    for _ in range(12):
        trial = w + t * direction
        f_new, g_new = value_and_grad(trial)
        if f_new <= f + 1e-4 * t * slope:
            break
        t *= 0.5
    return trial, f_new, g_new


w = torch.zeros(D * C, device=DEV)
f, g = value_and_grad(w)
memory = Memory(MEMORY)
for it in range(ITERS):
    new_w, new_f, new_g = line_search(w, f, g, -memory.apply(g))
    memory.add(new_w - w, new_g - g)
    w, f, g = new_w, new_f, new_g
accuracy = ((x @ w.view(D, C)).argmax(1) == labels).float().mean().item()
print(f"objective {f:.5f} accuracy {accuracy:.4f} pairs {len(memory.pairs)}")
