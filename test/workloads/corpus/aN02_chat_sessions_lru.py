"""Chat server that keeps the key/value caches of the most recent conversations.

Report: https://github.com/lm-sys/FastChat/issues/3223
Class: kv-lru
"""
import random
from collections import OrderedDict

import torch
from transformers import LlamaConfig, LlamaForCausalLM


class SessionStore:
    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = OrderedDict()

    def get(self, key):
        if key in self.entries:
            self.entries.move_to_end(key)
            return self.entries[key]
        return None

    def put(self, key, value):
        self.entries[key] = value
        self.entries.move_to_end(key)
        while len(self.entries) > self.capacity:
            self.entries.popitem(last=False)


class ChatServer:
    def __init__(self, capacity=20):
        config = LlamaConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                             num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128)
        self.model = LlamaForCausalLM(config).to("cuda").eval()
        self.sessions = SessionStore(capacity)

    @torch.no_grad()
    def message(self, session, tokens):
        past = self.sessions.get(session)
        if past is not None and past.get_seq_length() > 80:
            past = None
        out = self.model(input_ids=torch.tensor([tokens], device="cuda"), past_key_values=past, use_cache=True)
        self.sessions.put(session, out.past_key_values)
        return int(out.logits[0, -1].argmax())


def main():
    torch.manual_seed(1)
    rng = random.Random(1)
    server = ChatServer()
    newest, checksum = 0, 0
    for turn in range(400):
        if turn % 4 == 0:
            newest += 1
        session = max(0, newest - int(rng.expovariate(0.4)))
        checksum += server.message(session, [rng.randrange(256) for _ in range(rng.randint(6, 14))])
        if turn % 100 == 99:
            print(f"turn {turn + 1}: {newest} sessions opened, {len(server.sessions.entries)} kept, {checksum}")


if __name__ == "__main__":
    main()
