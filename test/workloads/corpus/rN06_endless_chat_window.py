"""One endless conversation with a model whose layers look back a fixed number of tokens.
Report: https://github.com/huggingface/transformers/pull/40039
Class: kv-window
"""
import random
from collections import Counter

import torch
from transformers import DynamicCache, MistralConfig, MistralForCausalLM

TURNS, WINDOW, WORDS = 140, 1536, 700


class Conversation:
    def __init__(self, model):
        self.model = model
        self.cache = DynamicCache(config=model.config)
        self.tokens = 0

    def turn(self, ids, length):
        """Takes in what the user says, then writes; gives the words written."""
        words = []
        self.tokens += ids.shape[1]
        for _ in range(length):
            out = self.model(input_ids=ids, past_key_values=self.cache, use_cache=True, logits_to_keep=1)
            ids = out.logits[:, -1:].argmax(-1)
            self.tokens += 1
            words.append(int(ids))
        return words

    def held(self):
        """Tokens whose keys are there."""
        return max(layer.keys.shape[-2] for layer in self.cache.layers)


def utterance(number, rng):
    gen = torch.Generator().manual_seed(number)
    size = rng.choice([3, 8, 15, 25, 60])
    return torch.randint(0, WORDS, (1, size), generator=gen).to("cuda")


@torch.inference_mode()
def main():
    torch.manual_seed(64)
    rng = random.Random(64)
    config = MistralConfig(
        vocab_size=WORDS, hidden_size=192, intermediate_size=384, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=4, sliding_window=WINDOW, max_position_embeddings=16384,
    )
    conversation = Conversation(MistralForCausalLM(config).to("cuda").eval())
    used = Counter()
    for number in range(1, TURNS + 1):
        used.update(conversation.turn(utterance(number, rng), length=rng.randint(2, 9)))
        if number % 28 == 0:
            word, times = used.most_common(1)[0]
            print(
                f"turn {number}: {conversation.tokens} tokens said, {conversation.held()} held, "
                f"{len(used)} words, word {word} {times} times"
            )


main()
