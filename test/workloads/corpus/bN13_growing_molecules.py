"""Energy regression on random molecules of which larger and larger ones are taken into the training (a curriculum).
Report: https://github.com/pyg-team/pytorch_geometric/issues/9259
Class: curriculum
"""
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import global_add_pool
from torch_geometric.nn.models import GIN
from torch_geometric.utils import to_undirected

MAX_ATOMS = 64


def random_molecule(num_atoms, generator):
    kinds = torch.randint(0, 6, (num_atoms,), generator=generator)
    source = torch.arange(1, num_atoms)
    target = (torch.rand(num_atoms - 1, generator=generator) * source).long()
    ring = torch.randint(0, num_atoms, (2, num_atoms // 6), generator=generator)
    edge_index = to_undirected(torch.cat([torch.stack([source, target]), ring], dim=1))
    energy = (kinds[edge_index[0]] * kinds[edge_index[1]]).float().sum() / (6.0 * num_atoms)
    return Data(x=torch.nn.functional.one_hot(kinds, 6).float(), edge_index=edge_index, y=energy)


def atoms_at(step, half):
    """From 12 atoms to MAX_ATOMS in the first half of the run."""
    return int(12 + (MAX_ATOMS - 12) * min(1.0, step / half))


def main(steps=180):
    torch.manual_seed(27)
    generator = torch.Generator().manual_seed(27)
    model = GIN(6, hidden_channels=64, num_layers=3, out_channels=64).to("cuda")
    head = torch.nn.Linear(64, 1).to("cuda")
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-3)
    average = None
    for step in range(steps):
        num_atoms = atoms_at(step, steps // 2)
        batch = Batch.from_data_list([random_molecule(num_atoms, generator) for _ in range(16)]).to("cuda")
        pooled = global_add_pool(model(batch.x, batch.edge_index), batch.batch) / num_atoms
        loss = torch.nn.functional.mse_loss(head(pooled).squeeze(1), batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average = loss.item() if average is None else 0.95 * average + 0.05 * loss.item()
        if step % 45 == 0:
            print(f"step {step}: {num_atoms} atoms, loss {average:.3f}")


if __name__ == "__main__":
    main()
