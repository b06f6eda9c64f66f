"""Answers questions about one manual whose keys and values were computed once and are used for every question.
Report: https://github.com/MemTensor/MemOS/issues/2301
Class: kv-cache
"""
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

QUESTIONS, MANUAL, WORDS = 90, 120, 500


class Manual:
    """A text as the model remembers it."""

    def __init__(self, name, cache):
        self.name = name
        self.cache = cache


class Library:
    def __init__(self, model):
        self.model = model
        self.manuals = {}

    def read(self, name, ids):
        cache = DynamicCache(config=self.model.config)
        self.model(input_ids=ids, past_key_values=cache, use_cache=True)
        self.manuals[name] = Manual(name, cache)  # HOLDER

    def recall(self, name):
        return self.manuals[name].cache


class Assistant:
    def __init__(self, model, library):
        self.model = model
        self.library = library

    def answer(self, name, question, length):
        cache = self.library.recall(name)
        ids, words = question, []
        for _ in range(length):
            out = self.model(input_ids=ids, past_key_values=cache, use_cache=True)  # SITE
            ids = out.logits[:, -1:].argmax(-1)
            words.append(int(ids))
        return words


@torch.inference_mode()
def main():
    torch.manual_seed(23)
    config = LlamaConfig(
        vocab_size=WORDS, hidden_size=320, intermediate_size=384, num_hidden_layers=3, num_attention_heads=5,
        num_key_value_heads=5, max_position_embeddings=8192,
    )
    model = LlamaForCausalLM(config).to("cuda").eval()
    library = Library(model)
    library.read("pump", torch.randint(0, WORDS, (1, MANUAL), device="cuda"))
    assistant = Assistant(model, library)
    used = set()
    for number in range(1, QUESTIONS + 1):
        gen = torch.Generator().manual_seed(number)
        size = 30 + number * 7 % 26
        question = torch.randint(0, WORDS, (1, size), generator=gen).to("cuda")
        used.update(assistant.answer("pump", question, length=3))
        if number % 18 == 0:
            held = library.recall("pump").get_seq_length()
            print(f"question {number}: {len(used)} words used, memory of {held} tokens")


main()
