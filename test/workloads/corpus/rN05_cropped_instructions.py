"""Answers ragged requests behind one long instruction; after each answer its cache is cut back to the instruction.
Report: https://github.com/MemTensor/MemOS/pull/2303
Class: kv-cropped
"""
import random

import torch
from transformers import DynamicCache, Qwen2Config, Qwen2ForCausalLM

REQUESTS, INSTRUCTION, WORDS = 240, 260, 600


class Instructed:
    """A model with the keys and values of its instruction."""

    def __init__(self, model, instruction):
        self.model = model
        self.cache = DynamicCache(config=model.config)
        self.model(input_ids=instruction, past_key_values=self.cache, use_cache=True)
        self.base = self.cache.get_seq_length()

    def stream(self, ids, length, temperature, gen):
        """Tokens one by one; whoever stops early leaves the cache in order all the same."""
        try:
            for _ in range(length):
                out = self.model(input_ids=ids, past_key_values=self.cache, use_cache=True)
                chances = (out.logits[:, -1].float() / temperature).softmax(-1).cpu()
                ids = torch.multinomial(chances, 1, generator=gen).to("cuda")
                yield int(ids)
        finally:
            self.cache.crop(self.base - self.cache.get_seq_length())


class Traffic:
    """Requests that get longer in the course of the day and shorter again."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def __iter__(self):
        for number in range(REQUESTS):
            noon = 1 - abs(number - REQUESTS / 2) / (REQUESTS / 2)
            size = int(10 + 120 * noon * self.rng.random())
            yield [self.rng.randrange(WORDS) for _ in range(size)], self.rng.randint(2, 10)


@torch.inference_mode()
def main():
    torch.manual_seed(52)
    gen = torch.Generator().manual_seed(52)
    config = Qwen2Config(
        vocab_size=WORDS, hidden_size=256, intermediate_size=512, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=2048,
    )
    model = Qwen2ForCausalLM(config).to("cuda").eval()
    instructed = Instructed(model, torch.randint(0, WORDS, (1, INSTRUCTION), device="cuda"))
    written = stopped = 0
    for number, (words, length) in enumerate(Traffic(seed=52), start=1):
        stream = instructed.stream(torch.tensor([words], device="cuda"), length, 0.8, gen)
        for token in stream:
            written += 1
            if token % 11 == 0:
                stopped += 1
                stream.close()
                break
        if number % 48 == 0:
            held = instructed.cache.get_seq_length()
            print(f"request {number}: {written} tokens, {stopped} stopped by the user, cache of {held} tokens")


main()
