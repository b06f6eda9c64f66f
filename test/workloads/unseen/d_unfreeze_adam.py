"""Gradual unfreezing with a hand-written Adam: blocks join from the top."""
import torch
import torch.nn.functional as F

DEVICE = "cuda"
STEPS = 800
EVERY = 40
BLOCKS = 8
WIDTH = 1536


class HandAdam:
    def __init__(self, rate=2e-4, b1=0.9, b2=0.99):
        self.rate, self.b1, self.b2 = rate, b1, b2
        self.moments = {}

    def update(self, name, param, grad):
        if name not in self.moments:
            self.moments[name] = [torch.zeros_like(param), torch.zeros_like(param), 0]
        state = self.moments[name]
        state[2] += 1
        m, v, t = state
        m.mul_(self.b1).add_(grad, alpha=1 - self.b1)
        v.mul_(self.b2).addcmul_(grad, grad, value=1 - self.b2)
        denom = (v / (1 - self.b2 ** t)).sqrt_().add_(1e-8)
        param.data.addcdiv_(m, denom, value=-self.rate / (1 - self.b1 ** t))


def network():
    params = {}
    for i in range(BLOCKS):
        params[f"block{i}.w"] = torch.randn(WIDTH, WIDTH, device=DEVICE) * WIDTH ** -0.5
        params[f"block{i}.b"] = torch.zeros(WIDTH, device=DEVICE)
    params["head.w"] = torch.randn(WIDTH, 64, device=DEVICE) * WIDTH ** -0.5
    return params


def forward(params, x):
    for i in range(BLOCKS):
        x = x + 0.3 * F.gelu(x @ params[f"block{i}.w"] + params[f"block{i}.b"])
        x = F.layer_norm(x, (WIDTH,))
    return x @ params["head.w"]


def main():
    torch.manual_seed(14)
    params = network()
    target = torch.randn(WIDTH, 64, device=DEVICE)
    params["head.w"].requires_grad_()
    adam = HandAdam()
    curve = []
    for step in range(STEPS):
        if step % EVERY == EVERY - 1 and step // EVERY < BLOCKS:
            top = BLOCKS - 1 - step // EVERY
            params[f"block{top}.w"].requires_grad_()
            params[f"block{top}.b"].requires_grad_()
        x = torch.randn(1024, WIDTH, device=DEVICE)
        loss = F.cross_entropy(forward(params, x), (x @ target).argmax(1))
        active = {n: p for n, p in params.items() if p.requires_grad}
        for (name, p), g in zip(active.items(), torch.autograd.grad(loss, list(active.values()))):
            adam.update(name, p, g)
        curve.append(loss.item())
    print(f"{STEPS} steps, {len(adam.moments)} tensors trained, loss {curve[0]:.3f} -> {curve[-1]:.3f}")


main()
