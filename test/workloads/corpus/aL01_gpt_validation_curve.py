"""Fine-tunes a tiny GPT-2 on synthetic sequences and tracks a validation curve after every few steps.

Report: https://discuss.pytorch.org/t/gpu-memory-increase-while-i-wanna-to-backward-with-accumulative-loss/43284
Class: list-graph
"""
import torch
from transformers import GPT2Config, GPT2LMHeadModel, logging

logging.set_verbosity_error()
VOCAB = 128


def make_batch(batch_size, length):
    start = torch.randint(0, VOCAB, (batch_size, 1))
    return (start + torch.arange(length)).remainder(VOCAB).to("cuda")


def validate(model, batches):
    """Mean validation loss over a few fixed batches."""
    model.eval()
    total = 0.0
    for ids in batches:
        total = total + model(input_ids=ids, labels=ids, use_cache=False).loss  # SITE
    model.train()
    return total / len(batches)


def main():
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=VOCAB, n_positions=32, n_embd=32, n_layer=2, n_head=2,
                        bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    val_batches = [make_batch(2, 16) for _ in range(2)]

    curve = []
    for step in range(160):
        ids = make_batch(8, 24)
        loss = model(input_ids=ids, labels=ids, use_cache=False).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 3:
            curve.append(validate(model, val_batches))  # HOLDER
            if step % 40 == 39:
                print(f"step {step + 1}: train {loss.item():.3f} val {curve[-1].item():.3f}")
    best = min(range(len(curve)), key=lambda i: curve[i].item())
    print(f"best validation at evaluation {best}")


if __name__ == "__main__":
    main()
