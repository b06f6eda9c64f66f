"""Chats with many users at once, remembering the key-value cache of the users seen most recently."""
import random
from collections import OrderedDict

import torch
from transformers import DynamicCache, GPTNeoXConfig, GPTNeoXForCausalLM

DEVICE = "cuda"
MAX_SESSIONS = 6
MAX_TOKENS = 150


class Session:
    def __init__(self):
        self.restart([])

    def restart(self, tokens):
        self.cache = DynamicCache()
        self.pending = list(tokens)
        self.tokens = []


class ChatHost:
    def __init__(self, model):
        self.model = model
        self.sessions = OrderedDict()
        self.evicted = self.restarted = 0

    def session(self, user):
        if user not in self.sessions:
            if len(self.sessions) >= MAX_SESSIONS:
                self.sessions.popitem(last=False)
                self.evicted += 1
            self.sessions[user] = Session()
        self.sessions.move_to_end(user)
        return self.sessions[user]

    @torch.no_grad()
    def say(self, user, words, reply=4):
        s = self.session(user)
        if len(s.tokens) + len(words) + reply > MAX_TOKENS:
            s.restart(s.tokens[-24:])
            self.restarted += 1
        s.pending.extend(words)
        answer = []
        for _ in range(reply):
            ids = torch.tensor([s.pending], device=DEVICE)
            logits = self.model(input_ids=ids, past_key_values=s.cache, use_cache=True).logits
            s.tokens.extend(s.pending)
            s.pending = [int(logits[0, -1].argmax())]
            answer.extend(s.pending)
        return answer


def main():
    torch.manual_seed(80)
    rng = random.Random(80)
    config = GPTNeoXConfig(
        vocab_size=130,
        hidden_size=128,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=256,
        max_position_embeddings=256,
    )
    host = ChatHost(GPTNeoXForCausalLM(config).to(DEVICE).eval())
    checksum = 0
    for turn in range(1, 181):
        user = rng.randrange(5) if rng.random() < 0.7 else rng.randrange(40)
        words = [rng.randrange(130) for _ in range(rng.randrange(4, 20))]
        checksum = (checksum * 13 + sum(host.say(user, words))) % 100019
        if turn % 36 == 0:
            print(f"turn {turn}: evicted {host.evicted} restarted {host.restarted} checksum {checksum}")


main()
