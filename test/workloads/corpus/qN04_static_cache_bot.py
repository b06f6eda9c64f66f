"""Runs many short conversations through one preallocated key-value cache."""
import random

import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

DEVICE = "cuda"
LIMIT = 192

torch.manual_seed(18)
rng = random.Random(18)
config = LlamaConfig(
    vocab_size=140,
    hidden_size=128,
    intermediate_size=256,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=4,
    max_position_embeddings=LIMIT,
)
model = LlamaForCausalLM(config).to(DEVICE).eval()
cache = StaticCache(config=config, max_cache_len=LIMIT)
transcripts = {}


@torch.no_grad()
def feed(ids, start):
    positions = torch.arange(start, start + ids.shape[1], device=DEVICE).unsqueeze(0)
    logits = model(input_ids=ids, position_ids=positions, past_key_values=cache, use_cache=True).logits
    return logits[:, -1:].argmax(-1)


def converse(name, rounds):
    cache.reset()
    used, said = 0, []
    for _ in range(rounds):
        message = torch.randint(0, 140, (1, rng.randrange(6, 18))).to(DEVICE)
        if used + message.shape[1] + 4 > LIMIT:
            break
        token = feed(message, used)
        used += message.shape[1]
        for _ in range(4):
            said.append(int(token))
            token = feed(token, used)
            used += 1
    transcripts[name] = said
    return used


longest = 0
for conversation in range(48):
    longest = max(longest, converse(f"visitor{conversation}", rounds=rng.randrange(2, 9)))
    if conversation % 12 == 11:
        last = transcripts[f"visitor{conversation}"]
        print(f"conversation {conversation + 1}: longest {longest} last words {last[-5:]}")
