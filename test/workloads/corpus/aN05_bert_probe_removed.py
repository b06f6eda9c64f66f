"""Measures how a layer's representation drifts during fine-tuning, through a hook that is removed after each look.

Report: https://github.com/fffasttime/MRFI/pull/5
Class: hooks-removed
"""
import contextlib

import torch
from transformers import BertConfig, BertForMaskedLM


@contextlib.contextmanager
def recorded(module):
    seen = []
    handle = module.register_forward_hook(
        lambda mod, args, out: seen.append((out[0] if isinstance(out, tuple) else out).detach()))
    try:
        yield seen
    finally:
        handle.remove()


def representation(model, ids):
    model.eval()
    with torch.no_grad(), recorded(model.bert.encoder.layer[0]) as seen:
        model(input_ids=ids)
    model.train()
    return seen[0]


def main():
    torch.manual_seed(4)
    model = BertForMaskedLM(BertConfig(vocab_size=120, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                       intermediate_size=128, max_position_embeddings=24)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    fixed = torch.randint(0, 120, (16, 24), device="cuda")
    reference = representation(model, fixed)
    for step in range(120):
        ids = torch.randint(0, 120, (8, 24), device="cuda")
        loss = model(input_ids=ids, labels=ids.roll(1, dims=1)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 1:
            current = representation(model, fixed)
            drift = (current - reference).pow(2).mean().sqrt().item()
            if step % 30 == 29:
                print(f"step {step + 1}: loss {loss.item():.3f} drift {drift:.3f}")


if __name__ == "__main__":
    main()
