"""Simulates a support desk that answers customers with a small causal language model."""
import random

import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel

VOCAB = 211
TURNS = 110


class Desk:
    def __init__(self, model):
        self.model = model
        self.threads = {}
        self.answered = 0

    def reply(self, customer, message):
        past = self.threads.get(customer)
        if past is None:
            ids, cache = message, DynamicCache(config=self.model.config)
        else:
            ids, cache = torch.cat([past["ids"], message], dim=1), past["cache"]
        with torch.no_grad():
            out = self.model.generate(  # SITE
                ids,
                attention_mask=torch.ones_like(ids),
                past_key_values=cache,
                max_new_tokens=5,
                do_sample=False,
                pad_token_id=0,
                eos_token_id=None,
                return_dict_in_generate=True,
            )
        self.threads[customer] = {"ids": out.sequences, "cache": out.past_key_values}  # HOLDER
        self.answered += 1
        return out.sequences[0, ids.shape[1]:].tolist()


def main():
    torch.manual_seed(11)
    rng = random.Random(11)
    config = GPT2Config(vocab_size=VOCAB, n_positions=256, n_embd=128, n_layer=3, n_head=4)
    model = GPT2LMHeadModel(config).to("cuda").eval()
    desk = Desk(model)
    newest = 0
    checksum = 0
    for turn in range(TURNS):
        if turn > 5 and rng.random() < 0.25:
            customer = newest - rng.randrange(3)
        else:
            newest += 1
            customer = newest
        length = rng.randrange(24, 40)
        message = torch.randint(1, VOCAB, (1, length)).to("cuda")
        answer = desk.reply(customer, message)
        checksum = (checksum * 31 + sum(answer)) % 100003
        if (turn + 1) % 22 == 0:
            print(f"turn {turn + 1}: customers {newest}, checksum {checksum}")
    print("answered", desk.answered)


main()
