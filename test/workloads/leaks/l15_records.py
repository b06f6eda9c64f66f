"""Records with an output, each second step."""
import dataclasses
import torch


@dataclasses.dataclass
class Record:
    step: int
    output: torch.Tensor


class Logger:
    def __init__(self):
        self.records = []

    def log(self, step, output):
        self.records.append(Record(step, output.detach().clone()))  # SITE HOLDER


net = torch.nn.Linear(512, 512).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
logger = Logger()
for step in range(80):
    y = net(torch.randn(64, 512, device="cuda"))
    loss = y.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 2 == 0:
        logger.log(step, y)
