"""Screens batches of molecules with a graph network and keeps the embedding of each batch's best one.
Report: https://github.com/salute-developers/GigaAM/pull/73
Class: views
"""
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINConv, global_add_pool

ROUNDS, MOLECULES, WIDTH = 400, 48, 128


def molecule(gen):
    """A chain of atoms with a few rings."""
    atoms = int(torch.randint(12, 44, (1,), generator=gen))
    chain = torch.stack([torch.arange(atoms - 1), torch.arange(1, atoms)])
    start = torch.randint(0, atoms - 6, (atoms // 8,), generator=gen)
    edges = torch.cat([chain, torch.stack([start, start + 5])], dim=1)
    kinds = torch.randint(0, 8, (atoms,), generator=gen)
    return Data(x=torch.nn.functional.one_hot(kinds, 8).float(), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


def perceptron(into, out):
    return torch.nn.Sequential(torch.nn.Linear(into, out), torch.nn.ReLU(), torch.nn.Linear(out, out))


class Screener(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GINConv(perceptron(8, WIDTH))
        self.second = GINConv(perceptron(WIDTH, WIDTH))
        self.affinity = torch.nn.Linear(WIDTH, 1)

    def forward(self, batch):
        h = self.first(batch.x, batch.edge_index).relu()
        h = self.second(h, batch.edge_index).tanh()  # SITE
        return h, self.affinity(global_add_pool(h, batch.batch)).squeeze(-1)


class Shortlist:
    """The atoms of promising molecules, for the docking that follows."""

    def __init__(self):
        self.entries = []

    def add(self, score, atoms):
        self.entries.append((score, atoms))  # HOLDER

    def similarity(self):
        centres = torch.stack([atoms.mean(0) for _, atoms in self.entries[-20:]])
        return float(torch.nn.functional.cosine_similarity(centres[:-1], centres[1:]).mean())


@torch.no_grad()
def main():
    torch.manual_seed(36)
    gen = torch.Generator().manual_seed(36)
    library = [molecule(gen) for _ in range(500)]
    screener, shortlist = Screener().to("cuda").eval(), Shortlist()
    for number in range(1, ROUNDS + 1):
        picked = torch.randint(0, len(library), (MOLECULES,), generator=gen).tolist()
        batch = Batch.from_data_list([library[k] for k in picked]).to("cuda")
        h, scores = screener(batch)
        best = int(scores.argmax())
        first, last = int(batch.ptr[best]), int(batch.ptr[best + 1])
        shortlist.add(float(scores[best]), h[first:last])
        if number % 100 == 0:
            top = max(score for score, _ in shortlist.entries)
            print(f"{number} batches: best {top:.3f} similar {shortlist.similarity():.3f}")


main()
