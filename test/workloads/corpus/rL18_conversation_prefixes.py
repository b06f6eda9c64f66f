"""Chat server that remembers finished turns by their tokens; entries that a longer one makes useless should go.
Report: https://github.com/ml-explore/mlx-lm/pull/1117
Class: prefix-cache
"""
import copy
import random
from collections import OrderedDict

import torch
from transformers import DynamicCache, Qwen2Config, Qwen2ForCausalLM

CHATS, WORDS, MOST_CHATS = 40, 400, 6


class PrefixCache:
    """Caches by conversation and tokens. Only so many conversations are kept, the one not used for longest goes."""

    def __init__(self, most):
        self.most = most
        self.recent = OrderedDict()
        self.entries = {}

    def nearest(self, chat, tokens):
        for size in range(len(tokens) - 1, 0, -1):
            entry = self.entries.get((chat, tuple(tokens[:size])))
            if entry is not None:
                self.recent.move_to_end(chat)
                return copy.deepcopy(entry), size
        return None, 0

    def insert(self, chat, tokens, cache):
        old = self.recent.pop(chat, None)
        self.recent[chat] = tuple(tokens)
        if old is not None and old == tuple(tokens):
            self.entries.pop((chat, old), None)
        self.entries[(chat, tuple(tokens))] = cache  # HOLDER
        while len(self.recent) > self.most:
            gone, key = self.recent.popitem(last=False)
            self.entries.pop((gone, key), None)


class Server:
    def __init__(self, model, cache):
        self.model = model
        self.cache = cache

    @torch.inference_mode()
    def reply(self, chat, tokens):
        kv, known = self.cache.nearest(chat, tokens)
        if kv is None:
            kv = DynamicCache(config=self.model.config)
        ids = torch.tensor([tokens[known:]], device="cuda")
        for _ in range(3):
            out = self.model(input_ids=ids, past_key_values=kv, use_cache=True)  # SITE
            ids = out.logits[:, -1:].argmax(-1)
            tokens.append(int(ids))
        tokens.pop()
        self.cache.insert(chat, tokens, kv)


def main():
    torch.manual_seed(88)
    rng = random.Random(88)
    config = Qwen2Config(
        vocab_size=WORDS, hidden_size=256, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=1024,
    )
    server = Server(Qwen2ForCausalLM(config).to("cuda").eval(), PrefixCache(MOST_CHATS))
    turns = answered = 0
    for chat in range(CHATS):
        tokens = [rng.randrange(WORDS) for _ in range(60)]
        for _ in range(rng.randint(3, 7)):
            tokens.extend(rng.randrange(WORDS) for _ in range(rng.randint(20, 60)))
            server.reply(chat, tokens)
            turns += 1
            answered += len(tokens)
        if chat % 10 == 9:
            kept = len(server.cache.recent)
            print(f"{chat + 1} chats, {turns} turns, {answered / turns:.0f} tokens on average, {kept} kept")


main()
