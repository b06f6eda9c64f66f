"""Completion server that reuses the longest known beginning of a prompt; what it knows may take so many bytes.
Report: https://github.com/vllm-project/vllm-metal/pull/82
Class: kv-lru
"""
import copy
import random
from collections import OrderedDict

import torch
from transformers import DynamicCache, GPTNeoXConfig, GPTNeoXForCausalLM

REQUESTS, WORDS, BYTES, DOCUMENTS = 260, 350, 60 << 20, 150


def size_of(cache):
    return sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)


class PromptCache:
    def __init__(self, limit):
        self.limit = limit
        self.entries = OrderedDict()
        self.bytes = self.hits = self.evicted = 0

    def longest(self, tokens):
        best = ()
        for key in self.entries:
            if len(best) < len(key) < len(tokens) and tokens[: len(key)] == key:
                best = key
        if not best:
            return None, 0
        self.hits += 1
        self.entries.move_to_end(best)
        return copy.deepcopy(self.entries[best]), len(best)

    def put(self, tokens, cache):
        if tokens in self.entries:
            self.bytes -= size_of(self.entries.pop(tokens))
        self.entries[tokens] = cache
        self.bytes += size_of(cache)
        while self.bytes > self.limit:
            _, old = self.entries.popitem(last=False)
            self.bytes -= size_of(old)
            self.evicted += 1


class Completer:
    def __init__(self, model, cache):
        self.model = model
        self.cache = cache

    @torch.inference_mode()
    def complete(self, tokens, length):
        kv, known = self.cache.longest(tokens)
        if kv is None:
            kv = DynamicCache(config=self.model.config)
        ids = torch.tensor([tokens[known:]], device="cuda")
        out = self.model(input_ids=ids, past_key_values=kv, use_cache=True)
        self.cache.put(tokens, kv)
        kv, words = copy.deepcopy(kv), []
        for _ in range(length):
            ids = out.logits[:, -1:].argmax(-1)
            words.append(int(ids))
            out = self.model(input_ids=ids, past_key_values=kv, use_cache=True)
        return words


def main():
    torch.manual_seed(92)
    rng = random.Random(92)
    config = GPTNeoXConfig(
        vocab_size=WORDS, hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=384,
        max_position_embeddings=512,
    )
    completer = Completer(GPTNeoXForCausalLM(config).to("cuda").eval(), PromptCache(BYTES))
    documents = [tuple(rng.randrange(WORDS) for _ in range(rng.randint(80, 260))) for _ in range(DOCUMENTS)]
    words = 0
    for number in range(1, REQUESTS + 1):
        document = documents[min(DOCUMENTS - 1, int(rng.expovariate(1 / 20)))]
        tokens = document[: rng.choice([60, 80, len(document)])]
        if rng.random() < 0.6:
            tokens += tuple(rng.randrange(WORDS) for _ in range(rng.randint(2, 40)))
        words += len(completer.complete(tokens, length=rng.randint(1, 6)))
        if number % 52 == 0:
            cache = completer.cache
            held = cache.bytes >> 20
            print(f"request {number}: {words} words, {cache.hits} hits, {held} MiB, {cache.evicted} evicted")


main()
