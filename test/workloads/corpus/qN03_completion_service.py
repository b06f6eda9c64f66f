"""Completes documents that get longer with every request, using generate with a cache."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

VOCAB = 150


class CompletionService:
    def __init__(self, model):
        self.model = model
        self.log = []

    @torch.no_grad()
    def complete(self, ids, new_tokens):
        out = self.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=new_tokens,
            do_sample=False,
            num_beams=2,
            pad_token_id=0,
            use_cache=True,
            return_dict_in_generate=True,
            output_scores=True,
        )
        entropy = torch.stack([torch.special.entr(s.softmax(-1)).sum(-1).mean() for s in out.scores]).mean()
        answer = out.sequences[0, ids.shape[1]:].tolist()
        self.log.append({"prompt": ids.shape[1], "answer": answer, "entropy": entropy.item()})
        return answer


def main():
    torch.manual_seed(33)
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=1,
        eos_token_id=None,
    )
    service = CompletionService(LlamaForCausalLM(config).to("cuda").eval())
    document = torch.randint(3, VOCAB, (400,))
    for request in range(70):
        length = 8 + 5 * request
        service.complete(document[:length].unsqueeze(0).to("cuda"), new_tokens=6)
        if request % 14 == 13:
            last = service.log[-1]
            print(f"request {request + 1}: prompt {last['prompt']} entropy {last['entropy']:.4f} answer {last['answer']}")


if __name__ == "__main__":
    main()
