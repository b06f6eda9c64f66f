"""A logger in a dataclass keeps the loss tensor."""
import dataclasses
import torch


@dataclasses.dataclass
class Logger:
    metrics: dict = dataclasses.field(default_factory=dict)

    def log(self, name, value):
        self.metrics.setdefault(name, []).append(value)  # HOLDER


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(*[torch.nn.Linear(128, 128) for _ in range(4)])
        self.head = torch.nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.encoder(x))  # SITE


def main():
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    logger = Logger()
    for epoch in range(5):
        for batch in range(20):
            x = torch.randn(64, 128, device="cuda")
            y = torch.randint(0, 10, (64,), device="cuda")
            loss = torch.nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            logger.log("train/loss", loss)


main()
