"""First-order MAML on sine regression tasks."""
import math
import torch
import torch.nn.functional as F

torch.manual_seed(1)
device = "cuda"
META_ITERS, TASKS, INNER, HID, SHOTS = 25, 6, 5, 256, 32


def init_params():
    sizes = [1, HID, HID, 1]
    params = []
    for i, o in zip(sizes[:-1], sizes[1:]):
        params.append((torch.randn(i, o, device=device) / math.sqrt(i)).requires_grad_())
        params.append(torch.zeros(o, device=device, requires_grad=True))
    return params


def net(x, p):
    x = torch.tanh(x @ p[0] + p[1])
    x = torch.tanh(x @ p[2] + p[3])
    return x @ p[4] + p[5]


def sample_task():
    amp = 0.1 + 4.9 * torch.rand(1, device=device)
    phase = math.pi * torch.rand(1, device=device)
    x = 10 * torch.rand(2 * SHOTS, 1, device=device) - 5
    y = amp * torch.sin(x + phase)
    return x[:SHOTS], y[:SHOTS], x[SHOTS:], y[SHOTS:]


def adapt(params, x, y, lr=0.01, trajectory=[]):
    """Returns the adapted weights and the visited points (for the averaged solution)."""
    fast = [p.detach().clone().requires_grad_() for p in params]
    for _ in range(INNER):
        loss = F.mse_loss(net(x, fast), y)
        grads = torch.autograd.grad(loss, fast)
        fast = [(w - lr * g).detach().requires_grad_() for w, g in zip(fast, grads)]
        trajectory.append(fast)
    mean = [torch.stack([pt[i].detach() for pt in trajectory[-3:]]).mean(0).requires_grad_()
            for i in range(len(params))]
    return mean


meta = init_params()
opt = torch.optim.Adam(meta, lr=1e-3)
for it in range(META_ITERS):
    opt.zero_grad()
    outer = 0.0
    for _ in range(TASKS):
        xs, ys, xq, yq = sample_task()
        adapted = adapt(meta, xs, ys)
        q_loss = F.mse_loss(net(xq, adapted), yq)
        for p, g in zip(meta, torch.autograd.grad(q_loss, adapted)):
            p.grad = g / TASKS if p.grad is None else p.grad + g / TASKS
        outer += q_loss.item() / TASKS
    opt.step()
    # a little evaluation of the meta-initialisation itself
    with torch.no_grad():
        for _ in range(150):
            xs, ys, xq, yq = sample_task()
            zero_shot = F.mse_loss(net(xq, meta), yq)
print(f"query loss {outer:.3f} zero-shot {zero_shot.item():.3f}")
