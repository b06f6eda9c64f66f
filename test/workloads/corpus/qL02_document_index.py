"""Ingests a stream of tokenised documents into a vector index and answers look-ups now and then."""
import torch
import torch.nn.functional as F
from transformers import BertConfig, BertModel

DEVICE = "cuda"


class VectorIndex:
    def __init__(self):
        self.parts = []
        self.size = 0

    def add(self, vectors):
        self.parts.append(vectors)  # HOLDER
        self.size += vectors.shape[0]

    def search(self, query, k=3):
        table = F.normalize(torch.cat(self.parts), dim=-1)
        scores = F.normalize(query, dim=-1) @ table.T
        return scores.topk(k, dim=-1).indices


class Embedder:
    def __init__(self, model):
        self.model = model

    @torch.inference_mode()
    def __call__(self, ids):
        out = self.model(input_ids=ids, attention_mask=torch.ones_like(ids))  # SITE
        return out.last_hidden_state[:, 0]


def documents(n, generator):
    for _ in range(n):
        yield torch.randint(0, 500, (12, 56), generator=generator).to(DEVICE)


def main():
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(4)
    config = BertConfig(
        vocab_size=500,
        hidden_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=192,
        max_position_embeddings=64,
    )
    embed = Embedder(BertModel(config, add_pooling_layer=False).to(DEVICE).eval())
    index = VectorIndex()
    for step, ids in enumerate(documents(160, gen)):
        index.add(embed(ids))
        if step % 32 == 31:
            hits = index.search(embed(ids[:2]))
            print(f"{index.size} documents, nearest {hits[0].tolist()} {hits[1].tolist()}")


if __name__ == "__main__":
    main()
