"""Streams text from a small GPT-2 to many clients; some clients hang up before their text has ended.
Report: https://github.com/pytorch/pytorch/issues/27600
Class: generator
"""
import random

import torch
from transformers import GPT2Config, GPT2LMHeadModel


class StreamServer:
    def __init__(self):
        config = GPT2Config(
            vocab_size=300, n_positions=128, n_embd=128, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0
        )
        self.model = GPT2LMHeadModel(config).to("cuda").eval()
        self.streams = {}

    def tokens(self, prompt, max_new_tokens):
        input_ids, cache = prompt, None
        for _ in range(max_new_tokens):
            with torch.no_grad():
                out = self.model(input_ids=input_ids, past_key_values=cache, use_cache=True)  # SITE
            cache = out.past_key_values
            input_ids = out.logits[:, -1:].argmax(dim=-1)
            yield input_ids.item()

    def open(self, client, prompt):
        self.streams[client] = self.tokens(prompt, max_new_tokens=24)  # HOLDER

    def read(self, client, count):
        received = []
        for _ in range(count):
            token = next(self.streams[client], None)
            if token is None:
                del self.streams[client]
                break
            received.append(token)
        return received


def main():
    random.seed(107)
    torch.manual_seed(107)
    server = StreamServer()
    total = 0
    for client in range(90):
        server.open(client, torch.randint(1, 300, (1, random.randint(8, 40)), device="cuda"))
        wanted = 30 if random.random() < 0.55 else random.randint(1, 12)  # the others hang up early
        total += len(server.read(client, wanted))
        if client % 30 == 0:
            print(f"client {client}: {total} tokens sent")
    print("tokens sent:", total)


if __name__ == "__main__":
    main()
