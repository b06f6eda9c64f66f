"""A language model of GPT-2's smallest size (124 M parameters) with AdamW, in bfloat16 by autocast, on random tokens."""
import torch

WORDS, WIDTH, HEADS, LAYERS = 50257, 768, 12, 12


class Trainer:
    def __init__(self, foreach=None, sequences=8, tokens=1024):
        torch.manual_seed(0)
        self.shape = (sequences, tokens)
        self.words = torch.nn.Embedding(WORDS, WIDTH).cuda()
        self.places = torch.nn.Embedding(tokens, WIDTH).cuda()
        layer = torch.nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, activation="gelu", batch_first=True, norm_first=True, device="cuda"
        )
        norm = torch.nn.LayerNorm(WIDTH, device="cuda")
        self.layers = torch.nn.TransformerEncoder(layer, LAYERS, norm, enable_nested_tensor=False)
        self.mask = torch.nn.Transformer.generate_square_subsequent_mask(tokens, device="cuda")
        parts = torch.nn.ModuleList([self.words, self.places, self.layers])
        self.optimizer = torch.optim.AdamW(parts.parameters(), foreach=foreach)

    def step(self):
        given = torch.randint(WORDS, self.shape, device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            hidden = self.words(given) + self.places(torch.arange(self.shape[1], device="cuda"))
            hidden = self.layers(hidden, mask=self.mask, is_causal=True)
            scores = hidden @ self.words.weight.T
            loss = torch.nn.functional.cross_entropy(scores[:, :-1].flatten(0, 1), given[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss
