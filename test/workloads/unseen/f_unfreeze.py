"""Fine-tuning with gradual unfreezing and an EMA of whatever is trained."""
import torch
from torch import nn
import torch.nn.functional as F


class Callback:
    def on_epoch_start(self, tr): ...
    def on_step_end(self, tr): ...


class Unfreeze(Callback):
    def on_epoch_start(self, tr):
        blocks = tr.model.blocks
        k = len(blocks) - 1 - tr.epoch
        if k >= 0:
            for p in blocks[k].parameters():
                p.requires_grad_(True)


class EMA(Callback):
    def __init__(self, decay):
        self.decay, self.shadow = decay, {}

    @torch.no_grad()
    def on_step_end(self, tr):
        for name, p in tr.model.named_parameters():
            if p.requires_grad and name not in self.shadow:
                self.shadow[name] = p.detach().clone()
            elif p.requires_grad:
                self.shadow[name].lerp_(p, 1 - self.decay)


class Tagger(nn.Module):
    def __init__(self, vocab=3000, d=384, depth=10, n_tags=17):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(d, 6, 4 * d, 0.0, batch_first=True)
                                    for _ in range(depth))
        self.out = nn.Linear(d, n_tags)
        for p in [*self.emb.parameters(), *self.blocks.parameters()]:
            p.requires_grad_(False)

    def forward(self, tok):
        h = self.emb(tok)
        for b in self.blocks:
            h = b(h)
        return self.out(h)


class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks, self.epoch = model, callbacks, 0
        self.opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
        self.history = []

    def fire(self, event):
        for cb in self.callbacks:
            getattr(cb, event)(self)

    def fit(self, epochs, steps):
        for self.epoch in range(epochs):
            self.fire("on_epoch_start")
            for _ in range(steps):
                tok = torch.randint(0, 3000, (16, 48), device="cuda")
                loss = F.cross_entropy(self.model(tok).flatten(0, 1), (tok % 17).flatten())
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.fire("on_step_end")
            self.history.append(loss.item())


if __name__ == "__main__":
    torch.manual_seed(0)
    ema = EMA(0.99)
    trainer = Trainer(Tagger().to("cuda"), [Unfreeze(), ema])
    trainer.fit(epochs=36, steps=14)
    print(f"loss {trainer.history[0]:.3f} -> {trainer.history[-1]:.3f}, {len(ema.shadow)} averaged tensors")
