"""Federated averaging: clients keep their own momentum and personal head between visits."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

CLIENTS, PER_ROUND, FEAT, CLASSES = 30, 4, 256, 10


def trunk():
    return nn.Sequential(nn.Linear(FEAT, 768), nn.ReLU(), nn.Linear(768, 512), nn.ReLU()).to("cuda")


class Client:
    def __init__(self, cid, shared):
        g = torch.Generator(device="cuda").manual_seed(cid)
        self.x = torch.randn(1500, FEAT, generator=g, device="cuda")
        teacher = torch.randn(FEAT, CLASSES, generator=g, device="cuda") + shared
        self.y = (self.x @ teacher).argmax(1)
        self.trunk = trunk()
        self.head = nn.Linear(512, CLASSES).to("cuda")
        self.opt = torch.optim.SGD([*self.trunk.parameters(), *self.head.parameters()], lr=0.03, momentum=0.9)
        self.visits = 0

    def local_epoch(self, weights):
        self.trunk.load_state_dict(weights)
        self.visits += 1
        for idx in torch.randperm(1500, device="cuda").split(250):
            loss = F.cross_entropy(self.head(self.trunk(self.x[idx])), self.y[idx])
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
        return loss.item()


class Server:
    def __init__(self):
        self.weights = trunk().state_dict()
        self.shared = torch.randn(FEAT, CLASSES, device="cuda") * 2
        self.roster = {}

    def visit(self, cid):
        client = self.roster.get(cid)
        if client is None:
            client = self.roster[cid] = Client(cid, self.shared)
        return client

    def round(self, chosen):
        updates, losses = [], []
        for cid in chosen:
            client = self.visit(cid)
            losses.append(client.local_epoch(self.weights))
            updates.append({k: v.detach().clone() for k, v in client.trunk.state_dict().items()})
        self.weights = {k: torch.stack([u[k] for u in updates]).mean(0) for k in self.weights}
        return sum(losses) / len(losses)


def main():
    torch.manual_seed(6)
    rng = random.Random(6)
    server = Server()
    curve = [server.round(rng.sample(range(CLIENTS), PER_ROUND)) for _ in range(140)]
    visits = sorted(c.visits for c in server.roster.values())
    print(f"clients {len(visits)}, visits {visits[0]}..{visits[-1]}, loss {curve[0]:.3f} -> {curve[-1]:.3f}")


if __name__ == "__main__":
    main()
