"""Chat backend around a tiny GPT-2 which keeps the key/value cache of a conversation so that follow-ups are cheap.

Report: https://github.com/lm-sys/FastChat/issues/3223
Class: kv-cache
"""
import random

import torch
from transformers import GPT2Config, GPT2LMHeadModel


class ChatBackend:
    def __init__(self):
        config = GPT2Config(vocab_size=256, n_positions=256, n_embd=64, n_layer=3, n_head=4,
                            bos_token_id=0, eos_token_id=0)
        self.model = GPT2LMHeadModel(config).to("cuda").eval()
        self.caches = {}

    @torch.no_grad()
    def reply(self, session_id, token_ids, max_new=4):
        """Feeds the new message and decodes greedily on top of what the session said before."""
        past = self.caches.get(session_id)
        ids = torch.tensor([token_ids], device="cuda")
        answer = []
        for _ in range(max_new):
            out = self.model(input_ids=ids, past_key_values=past, use_cache=True)  # SITE
            past = out.past_key_values
            ids = out.logits[:, -1:].argmax(-1)
            answer.append(int(ids))
        self.caches[session_id] = past  # HOLDER
        return answer


def main():
    torch.manual_seed(1)
    rng = random.Random(1)
    backend = ChatBackend()
    open_sessions, next_id, messages = [], 0, 0
    for _ in range(240):
        if len(open_sessions) < 5:
            open_sessions.append((next_id, rng.randint(1, 4)))
            next_id += 1
        slot = rng.randrange(len(open_sessions))
        session_id, turns_left = open_sessions.pop(slot)
        message = [rng.randrange(256) for _ in range(rng.randint(4, 16))]
        answer = backend.reply(session_id, message)
        messages += 1
        if turns_left > 1:
            open_sessions.append((session_id, turns_left - 1))
        if messages % 60 == 0:
            print(f"{messages} messages, {next_id} sessions so far, last answer {answer}")


if __name__ == "__main__":
    main()
