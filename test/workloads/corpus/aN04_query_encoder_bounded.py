"""Query encoder of a search service; the vectors of the most frequent queries are remembered.

Report: https://github.com/meta-pytorch/botorch/pull/1650
Class: lru
"""
import functools
import random

import torch
from transformers import BertConfig, BertModel

SUBJECTS = ["river", "house", "garden", "bridge", "market", "school", "harbour", "forest"]
QUESTIONS = ["where is the", "how old is the", "who built the", "show me the", "what does it cost to see the"]


class Encoder:
    def __init__(self, remember=80):
        self.model = BertModel(BertConfig(vocab_size=400, hidden_size=96, num_hidden_layers=2, num_attention_heads=4,
                                          intermediate_size=192, max_position_embeddings=32)).to("cuda").eval()
        self.encode = functools.lru_cache(maxsize=remember)(self._encode)

    @torch.no_grad()
    def _encode(self, text):
        ids = [sum(text_part.encode()) % 400 for text_part in text.split()]
        return self.model(input_ids=torch.tensor([ids], device="cuda")).last_hidden_state[0]


def main():
    torch.manual_seed(3)
    rng = random.Random(3)
    encoder = Encoder()
    table = torch.randn(200, 96, device="cuda")
    total = 0
    for request in range(400):
        query = f"{rng.choice(QUESTIONS)} {rng.choice(SUBJECTS)} number {rng.randint(1, 9)} of the old town by night"
        vectors = encoder.encode(query)
        total += int((vectors @ table.t()).amax(dim=0).argmax())
        if request % 100 == 99:
            print(f"{request + 1} queries, {encoder.encode.cache_info().currsize} remembered, checksum {total}")


if __name__ == "__main__":
    main()
