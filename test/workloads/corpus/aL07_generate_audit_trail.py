"""Question answering worker: generates answers with scores and keeps an audit trail of what was answered.

Report: https://github.com/generative-computing/mellea/pull/544
Class: generate-output
"""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(11)
config = GPT2Config(vocab_size=300, n_positions=64, n_embd=48, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=299,
                    pad_token_id=299)
model = GPT2LMHeadModel(config).to("cuda").eval()


class Worker:
    def __init__(self, model):
        self.model = model
        self.trail = []

    def answer(self, question_id, ids):
        result = self.model.generate(  # SITE
            input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, min_new_tokens=8, do_sample=False,
            output_scores=True, return_dict_in_generate=True)
        confidence = torch.stack([s.softmax(-1).amax(-1) for s in result.scores]).mean().item()
        self.trail.append({"question": question_id, "result": result, "confidence": confidence})  # HOLDER
        return result.sequences[0, ids.shape[1]:].tolist()


worker = Worker(model)
for question in range(100):
    prompt = torch.randint(1, 299, (2, 6 + question % 7), device="cuda")
    tokens = worker.answer(question, prompt)
    if question % 25 == 0:
        print(f"question {question}: {tokens} confidence {worker.trail[-1]['confidence']:.4f}")
print(f"mean confidence {sum(entry['confidence'] for entry in worker.trail) / len(worker.trail):.4f}")
