"""Answers questions about shared instructions, reusing the key-value cache computed for each instruction text."""
import copy
import random
from functools import lru_cache

import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel

VOCAB = 180
torch.manual_seed(44)
rng = random.Random(44)
model = GPT2LMHeadModel(GPT2Config(vocab_size=VOCAB, n_positions=128, n_embd=96, n_layer=3, n_head=4))
model = model.to("cuda").eval()
instructions = [tuple(rng.randrange(VOCAB) for _ in range(rng.randrange(40, 80))) for _ in range(50)]


@lru_cache(maxsize=12)
def prefix(tokens):
    cache = DynamicCache()
    with torch.no_grad():
        model(input_ids=torch.tensor([tokens], device="cuda"), past_key_values=cache, use_cache=True)
    return cache


class Answerer:
    def __init__(self, tokens):
        self.cache = copy.deepcopy(prefix(tokens))
        self.score = 0.0

    @torch.no_grad()
    def answer(self, question, limit):
        ids = torch.tensor([question], device="cuda")
        words = []
        for _ in range(limit):
            logits = self.model_step(ids)
            best = logits.log_softmax(-1).max(-1)
            self.score += best.values.item()
            words.append(best.indices.item())
            ids = best.indices.view(1, 1)
        return words

    def model_step(self, ids):
        return model(input_ids=ids, past_key_values=self.cache, use_cache=True).logits[0, -1]


total = 0.0
counts = {}
for request in range(240):
    which = min(rng.randrange(50), rng.randrange(50))
    worker = Answerer(instructions[which])
    words = worker.answer([rng.randrange(VOCAB) for _ in range(6)], limit=4)
    total += worker.score
    counts[words[-1]] = counts.get(words[-1], 0) + 1
    if request % 48 == 47:
        info = prefix.cache_info()
        print(f"request {request + 1}: hits {info.hits} misses {info.misses} mean score {total / (request + 1):.4f}")
print("different endings", len(counts))
