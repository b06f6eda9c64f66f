"""Federated averaging with simulated clients."""
import copy
import functools
import gc
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
DEVICE = "cuda"
ROUNDS, CLIENTS, LOCAL_STEPS, HIDDEN = 22, 4, 25, 512


class Client:
    def __init__(self, cid, server):
        self.cid = cid
        self.server = server
        self.net = copy.deepcopy(server.net)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.shift = 0.1 * cid
        self.on_finish = functools.partial(server.collect, self)

    def batch(self, n=256):
        x = torch.randn(n, 128, device=DEVICE) + self.shift
        y = (x[:, :10] + 0.3 * x[:, 10:20]).argmax(1)
        return x, y

    def train(self):
        for _ in range(LOCAL_STEPS):
            x, y = self.batch()
            loss = F.cross_entropy(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        self.on_finish(loss.item())


class Server:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(128, HIDDEN), nn.ReLU(),
                                 nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                                 nn.Linear(HIDDEN, 10)).to(DEVICE)
        self.total = None
        self.seen = 0
        self.last_losses = []

    def collect(self, client, loss):
        state = client.net.state_dict()
        if self.total is None:
            self.total = {k: v.clone() for k, v in state.items()}
        else:
            for k, v in state.items():
                self.total[k] += v
        self.seen += 1
        self.last_losses.append(loss)

    def aggregate(self):
        self.net.load_state_dict({k: v / self.seen for k, v in self.total.items()})
        mean = sum(self.last_losses) / self.seen
        self.total, self.seen, self.last_losses = None, 0, []
        return mean


gc.disable()  # collector pauses showed up in the step times
server = Server()
for rnd in range(ROUNDS):
    for cid in range(CLIENTS):
        Client(rnd * CLIENTS + cid, server).train()
    mean_loss = server.aggregate()
print(f"fedavg loss {mean_loss:.4f}")
