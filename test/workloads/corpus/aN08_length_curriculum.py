"""Language model training with a length curriculum, gradient accumulation and a running average of weights.

Class: curriculum
"""
import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import GPT2Config, GPT2LMHeadModel, logging

logging.set_verbosity_error()


class CurriculumRun:
    def __init__(self, total_steps=100, accumulate=2, longest=64):
        config = GPT2Config(vocab_size=97, n_positions=longest, n_embd=64, n_layer=2, n_head=4, bos_token_id=0,
                            eos_token_id=0)
        self.model = GPT2LMHeadModel(config).to("cuda")
        self.average = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(0.95))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3)
        self.total_steps, self.accumulate, self.longest = total_steps, accumulate, longest

    def length(self, step):
        progress = min(1.0, 2 * step / self.total_steps)
        return int(8 + progress * (self.longest - 8))

    def batch(self, length):
        start = torch.randint(0, 97, (8, 1), device="cuda")
        return (start * 3 + 5 * torch.arange(length, device="cuda")).remainder(97)

    def run(self):
        for step in range(self.total_steps):
            total = 0.0
            for _ in range(self.accumulate):
                ids = self.batch(self.length(step))
                loss = self.model(input_ids=ids, labels=ids, use_cache=False).loss / self.accumulate
                loss.backward()
                total += loss.item()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.average.update_parameters(self.model)
            if step % 25 == 24:
                print(f"step {step + 1}: length {self.length(step)} loss {total:.3f}")


if __name__ == "__main__":
    torch.manual_seed(7)
    CurriculumRun().run()
