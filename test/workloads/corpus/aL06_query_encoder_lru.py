"""Semantic search service: encodes queries with a small BERT and looks them up in a fixed table of documents.

Report: https://github.com/MoonshotAI/Kimi-Audio/issues/117
Class: lru-unbounded
"""
import functools
import random

import torch
from transformers import BertConfig, BertModel

WORDS = "red blue green tall small old new fast slow quiet loud warm cold house river car tree book song city".split()


class QueryEncoder:
    def __init__(self):
        config = BertConfig(vocab_size=512, hidden_size=192, num_hidden_layers=3, num_attention_heads=4,
                            intermediate_size=384, max_position_embeddings=32)
        self.model = BertModel(config, add_pooling_layer=False).to("cuda").eval()

    def tokenize(self, text):
        return torch.tensor([[sum(map(ord, word)) % 512 for word in text.split()]], device="cuda")

    @functools.lru_cache(maxsize=None)  # HOLDER
    def encode(self, text):
        """One vector for each token, for late interaction."""
        with torch.no_grad():
            return self.model(input_ids=self.tokenize(text)).last_hidden_state[0]  # SITE


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    encoder = QueryEncoder()
    documents = torch.randn(300, 12, 192, device="cuda")
    hits = 0
    for request in range(400):
        if request % 5 == 4:
            query = "red house river car tree book song city old new slow quiet"
        else:
            query = " ".join(rng.choices(WORDS, k=rng.randint(12, 24)))
        tokens = encoder.encode(query)
        scores = torch.einsum("qd,nkd->nqk", tokens, documents).amax(-1).sum(-1)
        hits += int(scores.argmax())
        if request % 100 == 99:
            print(f"{request + 1} queries, checksum {hits}")


if __name__ == "__main__":
    main()
