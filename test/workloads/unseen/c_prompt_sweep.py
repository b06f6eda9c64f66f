"""Score prompt wordings against a set of answer directions."""
import functools
import itertools
import torch
import torch.nn as nn

torch.manual_seed(19)
DIM, LENGTH = 640, 320

embed = nn.Embedding(256, DIM).to("cuda")
place = nn.Embedding(LENGTH, DIM).to("cuda")
mix = nn.Linear(DIM, DIM).to("cuda")
norm = nn.LayerNorm(DIM).to("cuda")
answers = torch.randn(12, DIM, device="cuda")

openers = ["Please", "Kindly", "Now", "You are an expert;", "Step by step,"]
verbs = ["summarise", "translate", "classify", "rewrite", "explain"]
objects = ["the review", "the article", "this note", "the dialogue", "the table"]
endings = ["in one word.", "carefully."]


@functools.lru_cache(maxsize=None)  # HOLDER
def encode(prompt):
    raw = prompt.encode()
    ids = torch.tensor([raw[i % len(raw)] for i in range(LENGTH)]).to("cuda")
    h = embed(ids) + place(torch.arange(LENGTH, device="cuda"))
    h = h + torch.relu(mix(h))
    return norm(h)  # SITE


def score(prompt):
    states = encode(prompt)  # HOLDER
    weights = torch.softmax(states @ answers.T / DIM ** 0.5, dim=0)
    pooled = weights.T @ states
    return (pooled * answers).sum(1).max().item()


results = []
with torch.no_grad():
    for words in itertools.product(openers, verbs, objects, endings):
        prompt = " ".join(words)
        results.append((score(prompt), prompt))

results.sort(reverse=True)
print(f"{len(results)} prompts, best {results[0][0]:.3f}: {results[0][1]}")
