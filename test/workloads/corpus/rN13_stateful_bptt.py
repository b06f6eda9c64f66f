"""Character model in truncated backpropagation through time, with a leaky activation that has its own double backward.
Report: https://github.com/pytorch/pytorch/issues/2198
Class: hidden-state
"""
import torch
from torch import nn

STEPS, STREAMS, SPAN, HIDDEN, LETTERS = 240, 32, 16, 192, 40


class Squash(torch.autograd.Function):
    """x / (1 + |x|); its gradient can be differentiated again."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / (1 + x.abs())

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (1 + x.abs()).square()


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(LETTERS, HIDDEN)
        self.again = nn.Linear(HIDDEN, HIDDEN)
        self.slow = nn.Parameter(torch.rand(HIDDEN))
        self.out = nn.Linear(HIDDEN, LETTERS)

    def forward(self, letters, state):
        outputs = []
        for t in range(letters.shape[1]):
            new = Squash.apply(self.table(letters[:, t]) + self.again(state))
            rate = torch.sigmoid(self.slow)
            state = rate * state + (1 - rate) * new
            outputs.append(state)
        return self.out(torch.stack(outputs, dim=1)), state


def text(length):
    gen = torch.Generator().manual_seed(9)
    follow = torch.randint(0, LETTERS, (LETTERS, 3), generator=gen)
    letters = torch.zeros(STREAMS, length, dtype=torch.long)
    choice = torch.randint(0, 3, (STREAMS, length), generator=gen)
    for t in range(1, length):
        letters[:, t] = follow[letters[:, t - 1], choice[:, t]]
    return letters.to("cuda")


def main():
    torch.manual_seed(9)
    letters = text(STEPS * SPAN + 1)
    cell = Cell().to("cuda")
    optimizer = torch.optim.Adam(cell.parameters(), lr=3e-3)
    state = torch.zeros(STREAMS, HIDDEN, device="cuda")
    states, average = [], None
    for step in range(STEPS):
        at = step * SPAN
        state = state.detach().requires_grad_(True)
        logits, last = cell(letters[:, at:at + SPAN], state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), letters[:, at + 1:at + SPAN + 1].flatten())
        (pull,) = torch.autograd.grad(loss, state, create_graph=True)
        optimizer.zero_grad()
        (loss + 5 * pull.square().sum()).backward()
        nn.utils.clip_grad_norm_(cell.parameters(), 1.0)
        optimizer.step()
        state = last
        states.append(last.detach())
        if len(states) == 24:
            average = torch.stack(states).mean(0)
            states.clear()
        if step % 48 == 47:
            drift = 0.0 if average is None else float((average - last.detach()).norm())
            print(f"step {step + 1}: loss {loss.item():.4f} drift {drift:.2f}")


main()
