"""Trains a toy T5 to reverse sequences and now and then translates a few of them with beam search.

Report: https://github.com/huggingface/transformers/pull/30536
Class: beam-search
"""
import torch
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(5)
VOCAB = 60
config = T5Config(vocab_size=VOCAB, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0,
                  decoder_start_token_id=0, pad_token_id=0, eos_token_id=1)
model = T5ForConditionalGeneration(config).to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


def pairs(count):
    length = int(torch.randint(4, 10, (1,)))
    source = torch.randint(2, VOCAB, (count, length), device="cuda")
    end = torch.ones(count, 1, dtype=torch.long, device="cuda")
    return torch.cat([source, end], dim=1), torch.cat([source.flip(1), end], dim=1)


def translate(count=4):
    source, target = pairs(count)
    model.eval()
    beams = model.generate(input_ids=source, attention_mask=torch.ones_like(source), num_beams=4,
                           num_return_sequences=2, max_new_tokens=10, early_stopping=True)
    model.train()
    best = beams[::2, 1:]
    width = min(best.shape[1], target.shape[1])
    return (best[:, :width] == target[:, :width]).float().mean().item()


for step in range(100):
    source, target = pairs(16)
    loss = model(input_ids=source, labels=target).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        score = translate()
        if step % 25 == 24:
            print(f"step {step + 1}: loss {loss.item():.3f} token accuracy of the beams {score:.2f}")
