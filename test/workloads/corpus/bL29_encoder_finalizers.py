"""Text embedding service on a small BERT; buffers handed out to the index are wiped when the service goes away.
Class: weakref-finalize
"""
import weakref

import torch
from transformers import BertConfig, BertModel


def wipe(buffer):
    """Embeddings of customers must not stay in the memory behind the service."""
    buffer.zero_()


class EmbeddingService:
    def __init__(self):
        config = BertConfig(
            vocab_size=500, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192,
            max_position_embeddings=64,
        )
        self.model = BertModel(config, add_pooling_layer=False).to("cuda").eval()

    @torch.no_grad()
    def embed(self, token_ids, mask):
        hidden = self.model(input_ids=token_ids, attention_mask=mask).last_hidden_state
        buffer = (hidden * mask[..., None]).half()  # SITE
        weakref.finalize(self, wipe, buffer)  # HOLDER
        return buffer


class Index:
    """Keeps only one centroid of all texts."""

    def __init__(self, dim):
        self.total = torch.zeros(dim, device="cuda")
        self.tokens = 0

    def add(self, embeddings, mask):
        self.total += embeddings.float().sum(dim=(0, 1))
        self.tokens += int(mask.sum())


def main():
    torch.manual_seed(103)
    service, index = EmbeddingService(), Index(96)
    for request in range(350):
        texts, length = int(torch.randint(1, 9, ())), int(torch.randint(8, 64, ()))
        token_ids = torch.randint(0, 500, (texts, length), device="cuda")
        lengths = torch.randint(4, length + 1, (texts, 1), device="cuda")
        mask = (torch.arange(length, device="cuda") < lengths).long()
        index.add(service.embed(token_ids, mask), mask)
        if request % 70 == 0:
            norm = (index.total / index.tokens).norm().item()
            print(f"request {request}: {index.tokens} tokens, centroid norm {norm:.3f}")


if __name__ == "__main__":
    main()
