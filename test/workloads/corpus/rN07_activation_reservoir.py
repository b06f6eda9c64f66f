"""Trains sparse autoencoders on the activations of a GPT-2; a store fills up, is shuffled, learnt from and emptied.
Report: https://github.com/ai-safety-foundation/sparse_autoencoder/issues/76
Class: store-drained
"""
import torch
from torch import nn
from transformers import GPT2Config, GPT2Model

ROUNDS, BATCH, LENGTH, WIDTH, LATENT, CAPACITY = 220, 8, 48, 160, 480, 14000


class Store:
    """Rows of activations until there are enough of them."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.parts = []
        self.rows = 0

    def put(self, part):
        self.parts.append(part)
        self.rows += len(part)

    def full(self):
        return self.rows >= self.capacity

    def drain(self):
        rows = torch.cat(self.parts)
        self.parts.clear()
        self.rows = 0
        return rows[torch.randperm(len(rows), device="cuda")]


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.into = nn.Linear(WIDTH, LATENT)
        self.back = nn.Linear(LATENT, WIDTH)

    def forward(self, x):
        latent = self.into(x - self.back.bias).relu()
        return self.back(latent), latent


def learn(sparse, optimizer, rows):
    for part in rows.split(1024):
        again, latent = sparse(part)
        loss = (again - part).square().sum(1).mean() + 0.03 * latent.sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item(), float((latent > 0).float().sum(1).mean())


def main():
    torch.manual_seed(76)
    config = GPT2Config(
        vocab_size=500, n_positions=64, n_embd=WIDTH, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0
    )
    model = GPT2Model(config).to("cuda").eval()
    stores = {layer: Store(CAPACITY) for layer in (1, 2)}
    for layer, store in stores.items():

        def note(module, args, output, store=store):
            hidden = output[0] if isinstance(output, tuple) else output
            store.put(hidden.flatten(0, -2).clone())

        model.h[layer].register_forward_hook(note)
    coders = {layer: Sparse().to("cuda") for layer in stores}
    optimizers = {layer: torch.optim.Adam(coders[layer].parameters(), lr=1e-3) for layer in stores}
    gen, drained = torch.Generator().manual_seed(76), 0
    for number in range(1, ROUNDS + 1):
        length = int(torch.randint(LENGTH // 2, LENGTH, (1,), generator=gen))
        ids = torch.randint(0, 500, (BATCH, length), generator=gen).to("cuda")
        with torch.no_grad():
            model(input_ids=ids)
        for layer, store in stores.items():
            if store.full():
                loss, active = learn(coders[layer], optimizers[layer], store.drain())
                drained += 1
        if number % 55 == 0:
            last = f"loss {loss:.3f} active {active:.1f}" if drained else "nothing learnt yet"
            print(f"batch {number}: store of {stores[1].rows} rows, emptied {drained} times, {last}")


main()
