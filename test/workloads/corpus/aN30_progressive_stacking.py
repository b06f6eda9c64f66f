"""Progressive stacking: a BERT encoder starts with one layer and gets copies of its top layer until it has eight.

Class: stacking
"""
import copy

import torch
from transformers import BertConfig, BertForMaskedLM


def grow(model):
    layers = model.bert.encoder.layer
    layers.append(copy.deepcopy(layers[-1]))
    model.config.num_hidden_layers = len(layers)


def make_optimizer(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-3)


def batch(count=8, length=20):
    start = torch.randint(0, 90, (count, 1), device="cuda")
    ids = (start + torch.arange(length, device="cuda")).remainder(90)
    labels = torch.where(torch.rand(count, length, device="cuda") < 0.2, ids, -100)
    return ids.masked_fill(labels >= 0, 90), labels


def main():
    torch.manual_seed(29)
    config = BertConfig(vocab_size=91, hidden_size=96, num_hidden_layers=1, num_attention_heads=4,
                        intermediate_size=192, max_position_embeddings=24)
    model = BertForMaskedLM(config).to("cuda")
    optimizer = make_optimizer(model)
    for step in range(150):
        if step % 9 == 8 and len(model.bert.encoder.layer) < 8:
            optimizer.zero_grad()
            grow(model)
            optimizer = make_optimizer(model)
        ids, labels = batch()
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 29:
            print(f"step {step + 1}: {len(model.bert.encoder.layer)} layers, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
