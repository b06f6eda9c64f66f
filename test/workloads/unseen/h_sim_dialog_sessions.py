"""Load simulator for a chat decoder: one generator per conversation, stepped round-robin."""
import random

import torch
import torch.nn.functional as F

LAYERS, HEADS, DIM, LIMIT, VOCAB, STOPS = 4, 8, 512, 224, 2000, 30
DEV = "cuda"


class Weights:
    def __init__(self, seed=0):
        g = torch.Generator(device=DEV).manual_seed(seed)

        def mat(a, b):
            return torch.randn(a, b, generator=g, device=DEV) / a ** 0.5

        self.table = mat(VOCAB, DIM) * 30
        self.qkv = [mat(DIM, 3 * DIM) for _ in range(LAYERS)]
        self.out = [mat(DIM, DIM) for _ in range(LAYERS)]


def converse(w, prompt):
    """Yields one token id per step; ends at LIMIT or at a stop token."""
    past = torch.zeros(LAYERS, 2, HEADS, LIMIT, DIM // HEADS, device=DEV)
    token = prompt
    for pos in range(LIMIT):
        x = w.table[token]
        for layer in range(LAYERS):
            q, k, v = (x @ w.qkv[layer]).view(3, HEADS, 1, -1)
            past[layer, 0, :, pos] = k[:, 0]
            past[layer, 1, :, pos] = v[:, 0]
            att = F.scaled_dot_product_attention(q, past[layer, 0, :, :pos + 1], past[layer, 1, :, :pos + 1])
            x = x + att.reshape(-1) @ w.out[layer]
        token = int((F.layer_norm(x, (DIM,)) @ w.table.T).argmax())
        yield token
        if token < STOPS:
            return


class Simulator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.weights = Weights()
        self.conversations = {}
        self.patience = {}
        self.tokens = 0
        self.next_user = 0

    def arrive(self):
        user = self.next_user
        self.next_user += 1
        self.conversations[user] = converse(self.weights, self.rng.randrange(VOCAB))
        self.patience[user] = self.rng.randint(10, 40)

    def tick(self):
        for user in list(self.patience):
            token = next(self.conversations[user], None)
            if token is None:
                del self.conversations[user]
                del self.patience[user]
                continue
            self.tokens += 1
            self.patience[user] -= 1
            if self.patience[user] == 0:
                del self.patience[user]


if __name__ == "__main__":
    sim = Simulator(4)
    with torch.no_grad():
        for tick in range(180):
            sim.arrive()
            sim.tick()
    print(f"{sim.next_user} users, {len(sim.patience)} active, {sim.tokens} tokens")
