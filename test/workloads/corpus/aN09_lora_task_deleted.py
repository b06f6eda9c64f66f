"""A stream of small tasks: each gets its own LoRA adapter, is scored, and the adapter is removed again.

Report: https://github.com/huggingface/peft/issues/738
Class: adapter-delete
"""
import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel, logging

logging.set_verbosity_error()


def config():
    return LoraConfig(r=16, lora_alpha=16, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True,
                      task_type="CAUSAL_LM")


def sequences(task, count):
    start = torch.randint(0, 100, (count, 1), device="cuda")
    return (start + (task % 7 + 1) * torch.arange(16, device="cuda")).remainder(100)


def fit(model, task, steps=6):
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=5e-3)
    for _ in range(steps):
        ids = sequences(task, 8)
        loss = model(input_ids=ids, labels=ids, use_cache=False).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def score(model, task):
    ids = sequences(task, 16)
    return model(input_ids=ids, labels=ids, use_cache=False).loss.item()


def main():
    torch.manual_seed(8)
    base = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_positions=16, n_embd=64, n_layer=2, n_head=4, bos_token_id=0,
                                      eos_token_id=0)).to("cuda")
    model = get_peft_model(base, config(), adapter_name="shared")
    scores = []
    for task in range(30):
        name = f"task{task}"
        model.add_adapter(name, config())
        model.set_adapter(name)
        fit(model, task)
        scores.append(score(model, task))
        model.set_adapter("shared")
        model.delete_adapter(name)
        if task % 10 == 9:
            print(f"{task + 1} tasks, mean loss {sum(scores) / len(scores):.3f}, {len(model.peft_config)} adapter")


if __name__ == "__main__":
    main()
