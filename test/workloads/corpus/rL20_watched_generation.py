"""Watches how sure a language model is while it writes; what was noted for a text is used up when the text has an end.
Report: https://github.com/NVIDIA/logits-processor-zoo/pull/13
Class: logits-processor
"""
import random

import torch
from transformers import GPT2Config, GPT2LMHeadModel, LogitsProcessor, LogitsProcessorList

REQUESTS, WORDS, END, LONGEST = 200, 10000, 0, 12


class Watcher(LogitsProcessor):
    """Notes the distribution of each token; makes the end of a text likelier the longer it gets."""

    def __init__(self, rng):
        self.rng = rng
        self.steps = []
        self.eager = 1.0

    def begin(self):
        self.eager = 0.0 if self.rng.random() < 0.2 else 1.0

    def __call__(self, input_ids, scores):
        chances = scores.softmax(-1)  # SITE
        self.steps.append(chances)  # HOLDER
        scores = scores.clone()
        scores[:, END] += self.eager * 2.2 * (input_ids.shape[1] - 4)
        return scores

    def finish(self, text):
        """Doubt in the tokens of a text that came to its end, else None."""
        if int(text[-1]) != END:
            return None
        count = len(text)
        chances = torch.cat(self.steps[-count:])
        del self.steps[-count:]
        return float(-(chances * chances.clamp_min(1e-9).log()).sum(-1).mean())


@torch.inference_mode()
def main():
    torch.manual_seed(19)
    rng = random.Random(19)
    config = GPT2Config(
        vocab_size=WORDS, n_positions=64, n_embd=96, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=END
    )
    model = GPT2LMHeadModel(config).to("cuda").eval()
    watcher, doubts, cut = Watcher(rng), [], 0
    for number in range(1, REQUESTS + 1):
        prompt = torch.tensor([[rng.randrange(2, WORDS) for _ in range(rng.randint(4, 20))]], device="cuda")
        watcher.begin()
        written = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=LONGEST,
            do_sample=True,
            pad_token_id=END,
            eos_token_id=END,
            logits_processor=LogitsProcessorList([watcher]),
        )
        doubt = watcher.finish(written[0, prompt.shape[1]:])
        if doubt is None:
            cut += 1
        else:
            doubts.append(doubt)
        if number % 40 == 0:
            print(f"{number} texts, {cut} were cut off, doubt {sum(doubts) / max(1, len(doubts)):.3f}")


main()
