"""A board with slots; the loop outside of its class puts scores on it."""
import collections
import torch

Score = collections.namedtuple("Score", "step value")


class Board:
    __slots__ = ("scores", "title")

    def __init__(self, title):
        self.scores = collections.deque()
        self.title = title


board = Board("accuracy")
net = torch.nn.Linear(128, 128).cuda()
opt = torch.optim.Adam(net.parameters())
for step in range(80):
    x = torch.randn(64, 128, device="cuda")
    out = net(x)
    loss = (out - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    value = out.detach().amax(-1)  # SITE
    board.scores.append(Score(step, value))  # HOLDER
