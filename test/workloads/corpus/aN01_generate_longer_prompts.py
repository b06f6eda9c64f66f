"""Answers questions with a tiny GPT-2 whose prompts contain ever more of the context, up to a limit.

Report: https://github.com/lm-sys/FastChat/issues/211
Class: kv-freed
"""
import torch
from transformers import GPT2Config, GPT2LMHeadModel


def build_prompt(context, request, limit=96):
    length = min(8 + 2 * request, limit)
    return torch.tensor([context[-length:]], device="cuda")


def main():
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=300, n_positions=128, n_embd=64, n_layer=2, n_head=4, bos_token_id=0,
                        eos_token_id=299, pad_token_id=299)
    model = GPT2LMHeadModel(config).to("cuda").eval()
    context = torch.randint(1, 299, (128,)).tolist()
    produced = 0
    for request in range(120):
        prompt = build_prompt(context, request)
        answer = model.generate(input_ids=prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=6,
                                min_new_tokens=6, do_sample=False)
        new_tokens = answer[0, prompt.shape[1]:].tolist()
        context = (context + new_tokens)[-128:]
        produced += len(new_tokens)
        if request % 30 == 29:
            print(f"request {request + 1}: prompt of {prompt.shape[1]} tokens, {produced} tokens produced")


if __name__ == "__main__":
    main()
