"""LoRA fine-tuning that keeps the adapter weights of the four best steps and averages them at the end.

Report: https://github.com/huggingface/peft/issues/1639
Class: topk-heap
"""
import heapq

import torch
from peft import LoraConfig, TaskType, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from transformers import RobertaConfig, RobertaForSequenceClassification


class BestAdapters:
    """The k best adapter states, worst first."""

    def __init__(self, k=4):
        self.k = k
        self.heap = []

    def offer(self, loss, step, model):
        if len(self.heap) == self.k and -loss <= self.heap[0][0]:
            return
        state = {name: value.clone() for name, value in get_peft_model_state_dict(model).items()}
        entry = (-loss, step, state)
        if len(self.heap) < self.k:
            heapq.heappush(self.heap, entry)
        else:
            heapq.heapreplace(self.heap, entry)

    def mean(self):
        states = [state for _, _, state in self.heap]
        return {name: torch.stack([s[name] for s in states]).mean(dim=0) for name in states[0]}


def main():
    torch.manual_seed(11)
    config = RobertaConfig(vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                           intermediate_size=128, max_position_embeddings=40, num_labels=2, pad_token_id=1)
    peft_config = LoraConfig(task_type=TaskType.SEQ_CLS, r=8, lora_alpha=16, target_modules=["query", "value"])
    model = get_peft_model(RobertaForSequenceClassification(config), peft_config).to("cuda")
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-3)
    best = BestAdapters()
    for step in range(160):
        ids = torch.randint(2, 200, (16, 12), device="cuda")
        loss = model(input_ids=ids, labels=(ids[:, 1] > 100).long()).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        best.offer(loss.item(), step, model)
        if step % 40 == 39:
            print(f"step {step + 1}: loss {loss.item():.3f} best steps {sorted(entry[1] for entry in best.heap)}")
    set_peft_model_state_dict(model, best.mean())


if __name__ == "__main__":
    main()
